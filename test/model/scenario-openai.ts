/** The story as the two OpenAI APIs stream it. */
import type { ServerResponse } from 'node:http';
import { chatServer } from '../../src/model/chat.ts';
import { openai } from '../../src/model/openai.ts';
import type { ScriptCall, ScriptReply } from '../../src/model/script.ts';
import type { Dialect } from './scenario.ts';

const KEY = 'sk-story-openai-8c1d55aa90';
const credential = { credential: 'STORY_KEY', env: { STORY_KEY: KEY } };

type Event = Readonly<Record<string, unknown>>;

const pieces = (text: string): readonly string[] => text.match(/.{1,9}/gsu) ?? [];
const argsOf = ({ args, argsRaw }: ScriptCall): string => argsRaw ?? JSON.stringify(args);
const wireName = ({ tool }: ScriptCall): string => tool.replaceAll('.', '__');
const sse = (events: readonly Event[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** Serves a step: an error status, a stream that breaks off after its first event, or the whole of it. */
const serve =
  (eventsOf: (step: ScriptReply) => readonly Event[], end: string) =>
  (step: ScriptReply, response: ServerResponse): void => {
    if (step.error?.status !== undefined) {
      const { status, retryAfterMs } = step.error;
      response.writeHead(status, {
        'content-type': 'application/json',
        'retry-after-ms': String(retryAfterMs),
      });
      const error = { type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down.', param: null };
      response.end(JSON.stringify({ error }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_2' });
    if (step.error) response.write(sse(eventsOf({}).slice(0, 1)), () => response.destroy());
    else response.end(sse(eventsOf(step)) + end);
  };

const responsesUsage = ({ usage }: ScriptReply): Event => {
  const { input = 1, cacheRead = 0, cacheWrite = 0, output = 1 } = usage ?? {};
  return {
    input_tokens: input + cacheRead + cacheWrite,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
  };
};

type Streamed = { readonly item: Event; readonly deltas: readonly Event[] };

const itemsOf = (step: ScriptReply): readonly Streamed[] => [
  ...(step.reasoning === undefined
    ? []
    : [
        {
          item: {
            id: 'rs_story',
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: step.reasoning }],
            encrypted_content: 'bm9ib2R5IGluIHBhcnRpY3VsYXIgY2FuIHJlYWQgdGhpcw==',
          },
          deltas: pieces(step.reasoning).map((delta) => ({
            type: 'response.reasoning_summary_text.delta',
            summary_index: 0,
            delta,
          })),
        },
      ]),
  ...(step.text === undefined
    ? []
    : [
        {
          item: {
            id: 'msg_story',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            phase: 'final_answer',
            content: [{ type: 'output_text', annotations: [], text: step.text }],
          },
          deltas: pieces(step.text).map((delta) => ({
            type: 'response.output_text.delta',
            content_index: 0,
            delta,
          })),
        },
      ]),
  ...(step.calls ?? []).map((call) => ({
    item: {
      id: `fc_${call.id}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: wireName(call),
      arguments: argsOf(call),
    },
    deltas: pieces(argsOf(call)).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
  })),
];

const responsesEvents = (step: ScriptReply): readonly Event[] => {
  const items = itemsOf(step);
  const response = { id: 'resp_story', object: 'response', status: 'in_progress', output: [] };
  return [
    { type: 'response.created', response },
    ...items.flatMap(({ item, deltas }, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
      ...deltas.map((delta) => ({ ...delta, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: items.map(({ item }) => item),
        usage: responsesUsage(step),
      },
    },
  ];
};

const chatEvents = (step: ScriptReply): readonly Event[] => {
  const chunk = (delta: Event, finish_reason: string | null = null): Event => ({
    id: 'chatcmpl-story',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const { input = 1, cacheRead = 0, cacheWrite = 0, output = 1 } = step.usage ?? {};
  const calls = step.calls ?? [];
  return [
    chunk({ role: 'assistant', content: null }),
    ...pieces(step.reasoning ?? '').map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(step.text ?? '').map((content) => chunk({ content })),
    ...calls.flatMap((call, index) => [
      chunk({
        tool_calls: [
          { index, id: call.id, type: 'function', function: { name: wireName(call), arguments: '' } },
        ],
      }),
      ...pieces(argsOf(call)).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    {
      id: 'chatcmpl-story',
      object: 'chat.completion.chunk',
      choices: [],
      usage: {
        prompt_tokens: input + cacheRead + cacheWrite,
        completion_tokens: output,
        prompt_tokens_details: { cached_tokens: cacheRead },
      },
    },
  ];
};

export const openaiDialect: Dialect = {
  name: 'OpenAI Responses',
  wire: true,
  key: KEY,
  serve: serve(responsesEvents, ''),
  model: ({ url }) => openai({ baseUrl: `${url}/v1`, ...credential }).model('gpt-story'),
};

export const chatDialect: Dialect = {
  name: 'Chat Completions',
  wire: true,
  key: KEY,
  serve: serve(chatEvents, 'data: [DONE]\n\n'),
  model: ({ url }) => chatServer({ name: 'vllm', baseUrl: `${url}/v1`, ...credential }).model('story'),
};
