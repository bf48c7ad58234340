/**
 * Reads the event stream of a Responses request. Items are taken from `response.output_item.done`, where they are
 * complete, by their place in the output; what a stream left out there is taken from its last event. Only a
 * terminal event makes an answer of it.
 */
import { jsonAt } from './json-text.ts';
import type { Delta } from './model.ts';
import { broken, failedWith, isRecord, NO_END, type EventReader, type Reading } from './openai-reading.ts';
import { outputOf, readResponse } from './openai-reply.ts';
import { readError } from './provider/problem.ts';

const TEXT_DELTAS: ReadonlySet<unknown> = new Set(['response.output_text.delta', 'response.refusal.delta']);
const REASONING_DELTAS: ReadonlySet<unknown> = new Set([
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
]);
const TERMINALS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

export class ResponsesStream implements EventReader {
  readonly #onDelta: (delta: Delta) => void;
  readonly #items = new Map<number, string>();
  /** Calls by their place in the output, numbered as they appear. */
  readonly #calls = new Map<number, number>();
  #partial = '';
  #reading: Reading | undefined;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  get state(): 'open' | 'complete' {
    return this.#reading ? 'complete' : 'open';
  }

  push(data: string, last: boolean): void {
    if (this.#reading || data === '[DONE]') return;
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      // The end of a reply that was cut inside an event says nothing.
      if (!last)
        this.#reading = broken('bad-response', 'An event is no JSON', { partial: this.#partial, text: data });
      return;
    }
    if (isRecord(event)) this.#take(event, data);
  }

  reading(): Reading {
    return this.#reading ?? broken('interrupted', NO_END, { partial: this.#partial });
  }

  #take(event: Readonly<Record<string, unknown>>, data: string): void {
    const { type, output_index: index, delta } = event;
    const at = typeof index === 'number' ? index : this.#items.size;
    if (type === 'error') this.#reading = failedWith(readError(event) ?? {}, this.#partial);
    else if (TERMINALS.has(type)) this.#end(data);
    else if (type === 'response.output_item.added') this.#added(event['item'], at);
    else if (type === 'response.output_item.done') this.#items.set(at, jsonAt(data, ['item']) ?? 'null');
    else if (typeof delta !== 'string') return;
    else if (TEXT_DELTAS.has(type)) {
      this.#partial += delta;
      this.#onDelta({ type: 'text', text: delta });
    } else if (REASONING_DELTAS.has(type)) this.#onDelta({ type: 'reasoning', text: delta });
    else if (type === 'response.function_call_arguments.delta')
      this.#onDelta({ type: 'call-arguments', index: this.#callAt(at), text: delta });
  }

  #added(item: unknown, at: number): void {
    if (isRecord(item) && item['type'] === 'function_call') this.#callAt(at);
  }

  #callAt(at: number): number {
    const index = this.#calls.get(at) ?? this.#calls.size;
    this.#calls.set(at, index);
    return index;
  }

  #end(data: string): void {
    const raw = jsonAt(data, ['response']) ?? '{}';
    for (const [at, item] of outputOf(raw).entries()) if (!this.#items.has(at)) this.#items.set(at, item);
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const reading = readResponse(raw, items);
    const kept = this.#partial === '' ? {} : { partial: this.#partial };
    this.#reading = reading.kind === 'failed' ? { ...reading, ...kept } : reading;
  }
}
