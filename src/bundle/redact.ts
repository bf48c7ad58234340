/**
 * Removes what rules name, and whatever repeats it: parts of requests that were made of it, files that it lay in, and
 * texts that quote a line of it. What nobody can find this way is a text that says the same in other words.
 */
import { badInput } from '../errors.ts';
import { canonical, type Digest } from '../event/canonical.ts';
import { open, type StoredEvent } from '../event/envelope.ts';
import { callPosition, isCallId, type CallId } from '../event/call-id.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { LogEvent, PartTemplate } from '../event/events.ts';
import { isJsonObject, type Json, type JsonObject } from '../event/json.ts';
import { expandTemplate } from '../context/template.ts';
import { markerOf, replacementOf } from './marker.ts';
import { membersOf, payloadsOf, pointerOf, textsOf, valueAt, type Payload } from './payload.ts';
import { Repeats } from './repeats.ts';
import { ruleFor, type RedactionRule } from './redaction-rules.ts';
import type { Redacted } from './write.ts';

/** What removes a text that repeats a removed one. */
const REPEATS = 'repeats';

export type Redaction = Redacted & {
  /** Places that each rule removed, by its text. */
  readonly counts: ReadonlyMap<string, number>;
};

type BlobOf = (digest: Digest) => Promise<Uint8Array | undefined>;

/** Throws `redaction-matched-nothing` where a rule that names something finds nothing of it. */
export const redact = async (
  events: readonly StoredEvent[],
  rules: readonly RedactionRule[],
  blobOf: BlobOf,
): Promise<Redaction> => {
  const work = new Work(events, rules);
  work.byRules();
  refuseVain(rules, work.counts);
  await work.byRepetition(blobOf);
  return {
    rules: rules.map(({ text }) => text),
    bodies: work.bodies(),
    blobs: work.blobs,
    counts: work.counts,
  };
};

/** A rule with a typing error would leave standing what it was meant to remove. */
const refuseVain = (rules: readonly RedactionRule[], counts: ReadonlyMap<string, number>): void => {
  const vain = rules.find(({ kind, text }) => kind !== 'private' && kind !== 'all' && !counts.has(text));
  if (!vain) return;
  throw badInput(
    'redaction-matched-nothing',
    `The rule "${vain.text}" matches nothing in this session that can be removed. Nothing was written.`,
    { rule: vain.text },
  );
};

class Work {
  readonly counts = new Map<string, number>();
  readonly blobs = new Set<Digest>();
  readonly #stored: readonly StoredEvent[];
  readonly #events: readonly LogEvent[];
  readonly #rules: readonly RedactionRule[];
  /** What is removed, by event and path. */
  readonly #removed = new Map<number, Map<string, { readonly payload: Payload; readonly rule: string }>>();
  readonly #repeats = new Repeats();
  /** Turn and step of calls that lost something: a request's part holds all results of a step. */
  readonly #steps = new Set<string>();
  readonly #parts = new Map<number, Set<number>>();

  constructor(stored: readonly StoredEvent[], rules: readonly RedactionRule[]) {
    this.#stored = stored;
    this.#events = stored.map(open);
    this.#rules = rules;
  }

  byRules(): void {
    const tools = new Tools();
    for (const event of this.#events) {
      tools.push(event);
      for (const payload of payloadsOf(event.type, event.data)) {
        const tool = tools.at(event, payload.path);
        const rule = ruleFor(this.#rules, {
          type: event.type,
          tool,
          isPrivate: tools.isPrivate(tool),
          path: payload.path,
          members: membersOf(payload),
          isWhole: payload.kind === 'value',
        });
        if (rule) this.#remove(event, payload, rule.text);
      }
    }
  }

  async byRepetition(blobOf: BlobOf): Promise<void> {
    for (let before = -1; before !== this.#size;) {
      before = this.#size;
      this.#derived();
      await this.#repeatedBlobs(blobOf);
      for (const event of this.#events) this.#repeated(event);
    }
  }

  bodies(): ReadonlyMap<number, string> {
    const bodies = new Map<number, string>();
    for (const [i, stored] of this.#stored.entries()) {
      const event = this.#events[i];
      const removed = this.#removed.get(stored.seq);
      const parts = this.#parts.get(stored.seq);
      if (!event || (!removed && !parts)) continue;
      const envelope = JSON.parse(stored.body) as JsonObject;
      let data = envelope['data'] as Json;
      for (const { payload, rule } of removed?.values() ?? [])
        if (payload.kind !== 'blob') data = replaced(data, payload.path, replacementOf(payload, rule));
      if (parts && event.type === 'request.built')
        data = { ...(data as JsonObject), parts: this.#markedParts(event.data.parts, parts) };
      bodies.set(stored.seq, canonical({ ...envelope, data }));
    }
    return bodies;
  }

  get #size(): number {
    let size = this.blobs.size;
    for (const removed of this.#removed.values()) size += removed.size;
    for (const parts of this.#parts.values()) size += parts.size;
    return size;
  }

  #remove(event: LogEvent, payload: Payload, rule: string): void {
    const pointer = pointerOf(payload.path);
    const removed = this.#removed.get(event.seq) ?? new Map();
    if (removed.has(pointer)) return;
    removed.set(pointer, { payload, rule });
    this.#removed.set(event.seq, removed);
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
    if (payload.kind === 'blob') this.blobs.add((payload.value as { digest: Digest }).digest);
    for (const text of textsOf(payload)) this.#repeats.add(text);
    const call = callOf(event);
    if (call !== undefined) this.#steps.add(stepOf(call));
  }

  /** What stands elsewhere by construction: whole replies, instructions in frames, parts of requests. */
  #derived(): void {
    const definitions = this.#events.some(
      ({ seq, type }) => (type === 'session.created' || type === 'agent.updated') && this.#removed.has(seq),
    );
    for (const event of this.#events) {
      if (event.type === 'response.received' && event.data.raw && this.#removed.has(event.seq))
        this.blobs.add(event.data.raw.digest);
      if (event.type !== 'request.built') continue;
      const { frame, parts } = event.data;
      if (definitions && frame) this.blobs.add(frame.head).add(frame.tail);
      for (const [i, part] of parts.entries()) if (this.#isTainted(part)) this.#taint(event.seq, i);
    }
  }

  #taint(seq: number, part: number): void {
    this.#parts.set(seq, (this.#parts.get(seq) ?? new Set()).add(part));
  }

  #isTainted({ seq, pieces }: PartTemplate): boolean {
    if (this.#removed.has(seq)) return true;
    for (const piece of pieces) {
      if (typeof piece === 'string' ? this.#repeats.within(piece) : this.#removed.has(piece[0])) return true;
    }
    const event = this.#events[seq - 1];
    if (!event) return false;
    const call = callOf(event);
    if (call !== undefined) return this.#steps.has(stepOf(call));
    const { type } = event;
    return type === 'turn.ended' && [...this.#steps].some((step) => step.startsWith(`${event.data.turn}.`));
  }

  #repeated(event: LogEvent): void {
    for (const payload of payloadsOf(event.type, event.data))
      if (textsOf(payload).some((text) => this.#repeats.within(text))) this.#remove(event, payload, REPEATS);
  }

  /** Files and frames are text as often as not; what is none holds no line of text. */
  async #repeatedBlobs(blobOf: BlobOf): Promise<void> {
    const named = new Set<Digest>();
    for (const event of this.#events) {
      if (event.type === 'request.built' && event.data.frame)
        named.add(event.data.frame.head).add(event.data.frame.tail);
      for (const payload of payloadsOf(event.type, event.data))
        if (payload.kind === 'blob') named.add((payload.value as { digest: Digest }).digest);
    }
    for (const digest of named) {
      if (this.blobs.has(digest)) continue;
      const bytes = await blobOf(digest);
      if (bytes && this.#repeats.within(Buffer.from(bytes).toString('utf8'))) this.blobs.add(digest);
    }
  }

  #markedParts(parts: readonly PartTemplate[], tainted: ReadonlySet<number>): Json {
    return parts.map((part, i) => {
      if (!tainted.has(i)) return part;
      const text = expandTemplate(part.pieces, (seq) => this.#events[seq - 1]);
      return { seq: part.seq, pieces: [markerOf(REPEATS, text)] };
    });
  }
}

/** Which tool a place is about. */
class Tools {
  readonly #byCall = new Map<string, string>();
  #agent: AgentDefinition | undefined;

  push(event: LogEvent): void {
    if (event.type === 'session.created' || event.type === 'agent.updated') this.#agent = event.data.agent;
    if (event.type === 'call.proposed' || event.type === 'call.rejected')
      this.#byCall.set(event.data.call, event.data.tool);
  }

  at(event: LogEvent, path: readonly string[]): string | undefined {
    const call = callOf(event);
    if (call !== undefined) return this.#byCall.get(call);
    if (event.type !== 'response.received') return undefined;
    const block = valueAt(event.data, path.slice(0, 2));
    return isJsonObject(block) && block['type'] === 'call' ? textIn(block, 'name') : undefined;
  }

  isPrivate(tool: string | undefined): boolean {
    return this.#agent?.tools.some(({ name, labels }) => name === tool && labels.private) ?? false;
  }
}

const callOf = ({ data }: LogEvent): string | undefined => {
  const call = 'call' in data ? data.call : undefined;
  return call !== undefined && isCallId(call) ? call : undefined;
};

const stepOf = (call: string): string => {
  const { turn, step } = callPosition(call as CallId);
  return `${turn}.${step}`;
};

const replaced = (data: Json, path: readonly string[], value: Json): Json => {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(data))
    return data.map((item: Json, i) => (String(i) === key ? replaced(item, rest, value) : item));
  if (!isJsonObject(data)) return data;
  return { ...data, [key]: replaced(data[key] ?? null, rest, value) };
};

const textIn = (object: JsonObject, name: string): string | undefined => {
  const text = object[name];
  return typeof text === 'string' ? text : undefined;
};
