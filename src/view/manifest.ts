/**
 * The manifest of a request: every part that it could hold, whether it is kept, shortened, left out or summarised,
 * and why. Each part stands in exactly one of the four.
 */
import { estimateTokens, tokensPerByte } from '../context/estimate.ts';
import { Selected } from '../context/selected.ts';
import { heldTurns, policyOf } from '../context/selection.ts';
import type { Choice } from '../event/choice.ts';
import type { LogEvent } from '../event/events.ts';
import type { Counted, SessionState } from '../session/state.ts';
import { candidatesOf, type Candidate, type CandidateKind, type Candidates } from './candidates.ts';
import { formatBytes } from './format.ts';
import { policyWords } from './selection-words.ts';

export type PartState = 'kept' | 'shortened' | 'left-out' | 'summarised';

export type ManifestPart = {
  readonly kind: CandidateKind | 'frame' | 'instructions' | 'tool' | 'question';
  /** The event that it came from; undefined for what stands around the conversation, and for what is not there yet. */
  readonly seq: number | undefined;
  readonly turn: number;
  readonly label: string;
  readonly state: PartState;
  /** Empty where it is kept because everything is. */
  readonly reason: string;
  /** UTF-8 bytes in the request; where it is not in it, of what it would have. Parts of one element share its bytes. */
  readonly bytes: number;
  /** Estimate: bytes by what the provider counted for the whole. */
  readonly tokens: number;
  /** Whether its bytes begin the request before, too. */
  readonly same: boolean;
};

export type ManifestRequest = {
  readonly head: string;
  readonly tail: string;
  readonly parts: readonly string[];
  /** The event that each part stands for. */
  readonly seqs: readonly number[];
  /** Parts at the beginning that are those of the request before; undefined where not even the frame is. */
  readonly sharedParts: number | undefined;
  readonly choice: Choice;
  /** What calibrates the estimates: the provider's own count of this request, or of the last one. */
  readonly counted: Counted | undefined;
  /** The last part asks for a summary. */
  readonly question: boolean;
};

export type Manifest = {
  readonly parts: readonly ManifestPart[];
  readonly bytes: number;
  readonly tokensPerByte: number;
  readonly counts: Readonly<Record<PartState, number>>;
};

/**
 * `events` are those before the request, each at its seq less one. Those before `start` may be missing, where nothing
 * of them stands in the request: then nothing is said of them either.
 */
export const manifestOf = (
  session: string,
  events: readonly (LogEvent | undefined)[],
  request: ManifestRequest,
  start?: SessionState,
): Manifest => {
  const found = candidatesOf(session, events, start);
  const parts = [
    ...frameParts(found.state, request),
    ...new Conversed(found, events, request).parts(),
    ...questionPart(request),
  ];
  const counts = { kept: 0, shortened: 0, 'left-out': 0, summarised: 0 };
  for (const { state } of parts) counts[state]++;
  const texts = [request.head, request.tail, ...request.parts];
  const bytes =
    texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) + Math.max(0, request.parts.length - 1);
  return { parts, bytes, tokensPerByte: tokensPerByte(request.counted), counts };
};

const frameParts = ({ agent }: SessionState, request: ManifestRequest): readonly ManifestPart[] => {
  const same = request.sharedParts !== undefined;
  const part = (kind: ManifestPart['kind'], label: string, bytes: number): ManifestPart => ({
    kind,
    seq: undefined,
    turn: 0,
    label,
    state: 'kept',
    reason: '',
    bytes,
    tokens: estimateTokens(bytes, request.counted),
    same,
  });
  const instructions = part('instructions', 'instructions', jsonBytes(agent.instructions));
  const tools = agent.tools.map(({ name, description, inputSchema }) =>
    part('tool', name, jsonBytes({ name, description, inputSchema })),
  );
  const known = [instructions, ...tools].reduce((sum, one) => sum + one.bytes, 0);
  const all = Buffer.byteLength(request.head) + Buffer.byteLength(request.tail);
  return [
    part('frame', `${agent.model.name} and its parameters`, Math.max(0, all - known)),
    instructions,
    ...tools,
  ];
};

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const questionPart = ({ question, parts, seqs, counted }: ManifestRequest): readonly ManifestPart[] => {
  const text = parts.at(-1);
  if (!question || text === undefined) return [];
  const bytes = Buffer.byteLength(text);
  const tokens = estimateTokens(bytes, counted);
  const label = 'asks for a summary of what stands above';
  return [
    {
      kind: 'question',
      seq: seqs.at(-1),
      turn: 0,
      label,
      state: 'kept',
      reason: '',
      bytes,
      tokens,
      same: false,
    },
  ];
};

type Standing = { readonly state: PartState; readonly reason: string };

class Conversed {
  readonly #found: Candidates;
  readonly #events: readonly (LogEvent | undefined)[];
  readonly #request: ManifestRequest;
  readonly #selected: Selected;
  /** Bytes of the elements of each event, and whether all of them are shared. */
  readonly #elements = new Map<number, { readonly texts: string[]; same: boolean }>();
  readonly #held: ReturnType<typeof heldTurns>;

  constructor(found: Candidates, events: readonly (LogEvent | undefined)[], request: ManifestRequest) {
    this.#found = found;
    this.#events = events;
    this.#request = request;
    this.#selected = new Selected(found.conversation, request.choice, found.state.summary);
    this.#held = heldTurns(found.state);
    const asked = request.question ? request.seqs.length - 1 : request.seqs.length;
    for (const [i, seq] of request.seqs.slice(0, asked).entries()) {
      const element = this.#elements.get(seq) ?? { texts: [], same: true };
      element.texts.push(request.parts[i] ?? '');
      if (i >= (request.sharedParts ?? 0)) element.same = false;
      this.#elements.set(seq, element);
    }
  }

  parts(): readonly ManifestPart[] {
    return this.#found.list.map((candidate) => {
      const { state, reason } = this.#standing(candidate);
      const { bytes, same } = this.#size(candidate, state);
      const { kind, seq, turn, label } = candidate;
      const tokens = estimateTokens(bytes, this.#request.counted);
      return { kind, seq, turn, label, state, reason, bytes, tokens, same };
    });
  }

  #standing(candidate: Candidate): Standing {
    const { kind, entry, why = '' } = candidate;
    if (kind === 'summary') return this.#summary(candidate);
    if (entry === undefined) return { state: 'left-out', reason: why };
    const fate = this.#selected.fate(entry);
    switch (fate.kind) {
      case 'summarised':
        return { state: 'summarised', reason: `the summary of event ${fate.by} stands for it` };
      case 'left-out':
        return { state: 'left-out', reason: this.#leftOut(candidate.turn, fate.why) };
      case 'kept':
        return this.#kept(candidate, entry);
      default:
        return fate satisfies never;
    }
  }

  #kept({ kind, cut, turn }: Candidate, entry: number): Standing {
    if (kind === 'file')
      return { state: 'left-out', reason: 'files are not sent; its name, type and size are' };
    const stripped = this.#selected.strips(entry);
    if (kind === 'reasoning' && stripped)
      return { state: 'left-out', reason: 'what it was signed over has changed' };
    // An answer that was nothing but reasoning goes with it.
    if (kind === 'response' && stripped && this.#selected.at(entry).length === 0)
      return { state: 'left-out', reason: 'it held nothing but reasoning' };
    if (cut)
      return {
        state: 'shortened',
        reason: `${formatBytes(cut.kept)} of ${formatBytes(cut.bytes)}: a result has at most ${formatBytes(this.#found.state.agent.limits.resultBytes)}`,
      };
    return { state: 'kept', reason: this.#held.get(turn) === 'pinned' ? 'pinned' : '' };
  }

  #leftOut(turn: number, why: 'by-hand' | 'last-turns' | 'budget'): string {
    if (why !== 'by-hand') return `requests hold ${policyWords(policyOf(this.#found.state))}`;
    const said = this.#events.findLast(
      (event) =>
        event?.type === 'selection.changed' &&
        event.data.change.do === 'leave-out' &&
        event.data.change.turns.includes(turn),
    );
    return said?.type === 'selection.changed'
      ? `by hand: ${said.data.by.name}, event ${said.seq}`
      : 'by hand';
  }

  #summary({ seq }: Candidate): Standing {
    const { summary } = this.#found.state;
    if (summary && summary.response === seq && this.#request.choice.summary === summary.seq)
      return this.#selected.holdsSummary
        ? { state: 'kept', reason: `stands for events 1 to ${summary.to}` }
        : { state: 'left-out', reason: 'all that it stands for is left out' };
    const judged = this.#events.find(
      (event) =>
        (event?.type === 'history.summarised' || event?.type === 'summary.discarded') &&
        event.data.response === seq,
    );
    if (judged?.type === 'summary.discarded')
      return { state: 'left-out', reason: `no summary: ${judged.data.reason}` };
    return summary && judged
      ? { state: 'summarised', reason: `the summary of event ${summary.seq} stands for it` }
      : { state: 'left-out', reason: 'the turn ended before it was taken' };
  }

  #size(candidate: Candidate, state: PartState): { readonly bytes: number; readonly same: boolean } {
    const { kind, entry, index, seq, fileBytes } = candidate;
    if (fileBytes !== undefined) return { bytes: fileBytes, same: false };
    if (state === 'kept' || state === 'shortened') {
      const at = kind === 'summary' ? this.#found.state.summary?.seq : this.#seqOf(entry);
      const element = this.#elements.get(at ?? 0);
      if (!element) return { bytes: 0, same: false };
      return { bytes: this.#share(candidate, element.texts), same: element.same };
    }
    const item = entry === undefined ? undefined : this.#found.conversation.entries[entry]?.item;
    if (item?.kind === 'results') return { bytes: jsonBytes(item.results[index ?? 0]), same: false };
    if (item?.kind === 'assistant' && kind === 'reasoning')
      return {
        bytes: jsonBytes(
          item.blocks.filter((block) => block.type === 'reasoning' || block.type === 'opaque'),
        ),
        same: false,
      };
    return { bytes: item ? jsonBytes(item) : textBytes(this.#events[(seq ?? 0) - 1]), same: false };
  }

  #seqOf(entry: number | undefined): number | undefined {
    return entry === undefined ? undefined : this.#found.conversation.entries[entry]?.seq;
  }

  /** Results of one step may stand in one element: each has its share, by length. Reasoning is within its answer. */
  #share({ kind, entry, index = 0 }: Candidate, texts: readonly string[]): number {
    const all = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const item = entry === undefined ? undefined : this.#found.conversation.entries[entry]?.item;
    if (kind === 'result' && item?.kind === 'results') {
      if (texts.length === item.results.length) return Buffer.byteLength(texts[index] ?? '');
      const sizes = item.results.map(jsonBytes);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      return Math.round((all * (sizes[index] ?? 0)) / Math.max(1, total));
    }
    if (item?.kind !== 'assistant') return all;
    const reasoning = jsonBytes(
      item.blocks.filter((block) => block.type === 'reasoning' || block.type === 'opaque'),
    );
    const stands =
      entry !== undefined &&
      item.blocks.some((block) => block.type === 'reasoning') &&
      !this.#selected.strips(entry);
    if (kind === 'reasoning') return Math.min(all, reasoning);
    return stands && this.#hasReasoning(entry) ? Math.max(0, all - reasoning) : all;
  }

  #hasReasoning(entry: number): boolean {
    return this.#found.list.some((one) => one.kind === 'reasoning' && one.entry === entry);
  }
}

const textBytes = (event: LogEvent | undefined): number => (event ? jsonBytes(event.data) : 0);
