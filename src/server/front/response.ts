/** A run as a response of OpenAI's Responses API (platform.openai.com/docs/api-reference/responses) and its events. */
import type { Usage } from '../../event/content.ts';
import type { Beat, LastBeat, Part } from './beat.ts';

type Item = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>;
export type ResponseEvent = { readonly type: string } & Readonly<Record<string, unknown>>;
export type ResponseValue = {
  readonly id: string;
  readonly object: 'response';
  readonly status: Status;
} & Readonly<Record<string, unknown>>;

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** The server that asks, in the words of the items that this API has for questions about tools. */
const SERVER_LABEL = 'onrecord';

/** Where a run begins in the log: the same run is the same response. */
export const responseId = (session: string, seq: number): string => `resp_${session}.${seq}`;

export type ResponseStart = { readonly model: string; readonly previous: string | null };

/** Collects a response and says each change of it as events. */
export class ResponseBody {
  readonly #start: ResponseStart;
  #begin: Extract<Beat, { kind: 'begin' }> | undefined;
  #output: Item[] = [];
  #texts = new Map<string, string>();
  #end: LastBeat | undefined;

  constructor(start: ResponseStart) {
    this.#start = start;
  }

  /** Undefined before the run's beginning was told. */
  get value(): ResponseValue | undefined {
    if (!this.#begin) return undefined;
    const { session, turn, seq, at } = this.#begin;
    return {
      id: responseId(session, seq),
      object: 'response',
      created_at: Math.floor(at / 1000),
      ...ending(this.#end),
      background: false,
      instructions: null,
      max_output_tokens: null,
      metadata: { onrecord_session: session, onrecord_turn: String(turn), ...inDoubt(this.#end) },
      model: this.#start.model,
      output: this.#output,
      parallel_tool_calls: true,
      previous_response_id: this.#start.previous,
      store: true,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      truncation: 'disabled',
      usage: this.#end ? usageOf(this.#end.usage) : null,
    };
  }

  take(beat: Beat): readonly ResponseEvent[] {
    switch (beat.kind) {
      case 'begin':
        this.#begin = beat;
        return [
          { type: 'response.created', response: this.value },
          { type: 'response.in_progress', response: this.value },
        ];
      case 'open':
        this.#texts.set(beat.part.id, '');
        return this.#opened(beat.part);
      case 'words':
        this.#texts.set(beat.part.id, this.#text(beat.part) + beat.text);
        return [{ ...this.#at(beat.part), type: `${TEXT_EVENT[beat.part.kind]}.delta`, delta: beat.text }];
      case 'close':
        return this.#closed(beat.part);
      case 'retake':
        return beat.parts.flatMap((part) => this.#retaken(part));
      case 'result':
        return [beat.call].flatMap(({ id, tool, args }) => [
          ...this.#whole({
            id: `fc_${id}`,
            type: 'function_call',
            call_id: id,
            name: tool,
            arguments: args,
            status: 'completed',
          }),
          ...this.#whole({
            id: `fco_${id}`,
            type: 'function_call_output',
            call_id: id,
            output: beat.text,
            status: 'completed',
          }),
        ]);
      case 'rest':
      case 'end':
        return this.#last(beat);
      case 'cut':
        return [
          {
            type: 'error',
            code: 'server-stops',
            message: 'The server stops. The response goes on; retrieve it by its id.',
            param: null,
          },
        ];
      case 'step':
      case 'step-end':
      case 'call':
      case 'question':
      case 'decision':
      case 'doubt':
      case 'alive':
        return [];
      default:
        return beat satisfies never;
    }
  }

  #text(part: Part): string {
    return this.#texts.get(part.id) ?? '';
  }

  #opened(part: Part): readonly ResponseEvent[] {
    const item = itemOf(part, '', 'in_progress');
    this.#output.push(item);
    const added = { type: 'response.output_item.added', output_index: this.#output.length - 1, item };
    return [added, { ...this.#at(part), type: `${PART_EVENT[part.kind]}.added`, part: pieceOf(part, '') }];
  }

  #closed(part: Part): readonly ResponseEvent[] {
    const text = this.#text(part);
    const item = itemOf(part, text, 'completed');
    const at = this.#at(part);
    this.#output[at.output_index] = item;
    return [
      { ...at, type: `${TEXT_EVENT[part.kind]}.done`, text },
      { ...at, type: `${PART_EVENT[part.kind]}.done`, part: pieceOf(part, text) },
      { type: 'response.output_item.done', output_index: at.output_index, item },
    ];
  }

  /** Its place stays, so that the places of all others do; it says nothing any more. */
  #retaken(part: Part): readonly ResponseEvent[] {
    const { output_index } = this.#at(part);
    const { id, type } = itemOf(part, '', 'incomplete');
    const item: Item =
      part.kind === 'text'
        ? { id, type, role: 'assistant', status: 'incomplete', content: [] }
        : { id, type, summary: [], status: 'incomplete' };
    this.#output[output_index] = item;
    return [{ type: 'response.output_item.done', output_index, item }];
  }

  #whole(item: Item): readonly ResponseEvent[] {
    this.#output.push(item);
    const output_index = this.#output.length - 1;
    return [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  #last(beat: LastBeat): readonly ResponseEvent[] {
    const asked =
      beat.kind === 'rest'
        ? beat.needs.questions.flatMap(({ id, call }) =>
            this.#whole({
              id,
              type: 'mcp_approval_request',
              name: call.tool,
              arguments: call.args,
              server_label: SERVER_LABEL,
            }),
          )
        : [];
    this.#end = beat;
    const { status } = ending(beat);
    const type = status === 'completed' || status === 'failed' ? status : 'incomplete';
    return [...asked, { type: `response.${type}`, response: this.value }];
  }

  #at(
    part: Part,
  ): { readonly item_id: string; readonly output_index: number } & Readonly<Record<string, unknown>> {
    const item_id = itemId(part);
    const output_index = this.#output.findIndex(({ id }) => id === item_id);
    return part.kind === 'text'
      ? { item_id, output_index, content_index: 0, logprobs: [] }
      : { item_id, output_index, summary_index: 0 };
  }
}

const TEXT_EVENT = { text: 'response.output_text', reasoning: 'response.reasoning_summary_text' } as const;
const PART_EVENT = { text: 'response.content_part', reasoning: 'response.reasoning_summary_part' } as const;

const itemId = ({ id, kind }: Part): string => `${kind === 'text' ? 'msg' : 'rs'}_${id}`;

const pieceOf = ({ kind }: Part, text: string) =>
  kind === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'summary_text', text };

const itemOf = (part: Part, text: string, status: string): Item => {
  const id = itemId(part);
  const pieces = text === '' ? [] : [pieceOf(part, text)];
  return part.kind === 'text'
    ? { id, type: 'message', role: 'assistant', status, content: pieces }
    : { id, type: 'reasoning', summary: pieces, status };
};

type Ending = {
  readonly status: Status;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
};

const plain = (status: Status): Ending => ({ status, error: null, incomplete_details: null });

const incomplete = (reason: string): Ending => ({
  ...plain('incomplete'),
  incomplete_details: { reason },
});

const ending = (beat: LastBeat | undefined): Ending => {
  if (!beat) return plain('in_progress');
  if (beat.kind === 'rest') return beat.needs.doubts.length > 0 ? incomplete('in_doubt') : plain('completed');
  switch (beat.outcome) {
    case 'done':
      return beat.stop === 'length' ? incomplete('max_output_tokens') : plain('completed');
    case 'refused':
      return incomplete('content_filter');
    case 'cancelled':
    case 'withdrawn':
      return plain('cancelled');
    case 'failed':
    case 'stopped': {
      const { message = `The turn ended as ${beat.outcome}.`, reason = beat.outcome } = beat;
      return { ...plain('failed'), error: { code: 'server_error', message: `${reason}: ${message}` } };
    }
    default:
      return beat.outcome satisfies never;
  }
};

const inDoubt = (beat: LastBeat | undefined): Readonly<Record<string, string>> =>
  beat?.kind === 'rest' && beat.needs.doubts.length > 0
    ? { onrecord_in_doubt: beat.needs.doubts.map(({ call }) => call.id).join(' ') }
    : {};

/** Null where no response said what it used: unknown is not nothing. */
const usageOf = ({ cacheRead, cacheWrite, input, output }: Usage) => {
  const inputTokens = cacheRead + cacheWrite + input;
  if (inputTokens + output === 0) return null;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + output,
  };
};
