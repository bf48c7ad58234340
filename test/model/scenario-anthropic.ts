/** The story as the Anthropic Messages API streams it. */
import { anthropic } from '../../src/model/anthropic.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import type { Dialect } from './scenario.ts';

const ANTHROPIC_KEY = 'sk-ant-story-4f9c2d7e81';

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

const message = (step: ScriptReply): Event => ({
  type: 'message_start',
  message: {
    id: 'msg_story',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: {
      input_tokens: step.usage?.input ?? 1,
      cache_read_input_tokens: step.usage?.cacheRead ?? 0,
      cache_creation_input_tokens: step.usage?.cacheWrite ?? 0,
      output_tokens: 1,
    },
  },
});

const blocks = (
  step: ScriptReply,
): readonly { readonly start: object; readonly deltas: readonly object[] }[] => [
  ...(step.reasoning === undefined
    ? []
    : [
        {
          start: { type: 'thinking', thinking: '', signature: '' },
          deltas: [
            { type: 'thinking_delta', thinking: step.reasoning },
            {
              type: 'signature_delta',
              signature: 'c2lnbmVkIGJ5IG5vYm9keSBpbiBwYXJ0aWN1bGFyLCBidXQgbG9uZw==',
            },
          ],
        },
      ]),
  ...(step.text === undefined
    ? []
    : [
        {
          start: { type: 'text', text: '' },
          deltas: pieces(step.text).map((text) => ({ type: 'text_delta', text })),
        },
      ]),
  ...(step.calls ?? []).map(({ tool, args, argsRaw, id }) => ({
    start: { type: 'tool_use', id, name: tool.replaceAll('.', '__'), input: {} },
    deltas: ['', ...pieces(argsRaw ?? JSON.stringify(args))].map((json) => ({
      type: 'input_json_delta',
      partial_json: json,
    })),
  })),
];

const pieces = (text: string): readonly string[] => text.match(/.{1,9}/gsu) ?? [];

export const anthropicEvents = (step: ScriptReply): readonly Event[] => [
  message(step),
  { type: 'ping' },
  ...blocks(step).flatMap(({ start, deltas }, index) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]),
  {
    type: 'message_delta',
    delta: { stop_reason: (step.calls?.length ?? 0) > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { output_tokens: step.usage?.output ?? 1 },
  },
  { type: 'message_stop' },
];

export const anthropicSse = (events: readonly Event[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const anthropicDialect: Dialect = {
  name: 'Anthropic Messages',
  wire: true,
  key: ANTHROPIC_KEY,
  model: ({ url }) =>
    anthropic({ baseUrl: url, credential: 'STORY_KEY', env: { STORY_KEY: ANTHROPIC_KEY } }).model(
      'claude-story',
    ),
  serve: (step, response) => {
    if (step.error?.status !== undefined) {
      const { status, retryAfterMs } = step.error;
      const headers = {
        'content-type': 'application/json',
        'retry-after-ms': String(retryAfterMs),
        'request-id': 'req_1',
      };
      response.writeHead(status, headers);
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_2' });
    if (step.error) {
      response.write(anthropicSse([message(step)]), () => response.destroy());
      return;
    }
    response.end(anthropicSse(anthropicEvents(step)));
  },
};
