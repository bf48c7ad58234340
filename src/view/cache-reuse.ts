/**
 * What the cache of a provider could reuse from request to request, what it reported, and why the rest was new.
 * Expected and actual side by side: the record knows the bytes, the provider knows its cache.
 */
import { ratesAt, type Prices } from '../cost/prices.ts';
import { inputTokens, roundUsd } from '../cost/rates.ts';
import type { WalkedRequest } from '../context/rebuild.ts';
import { sharedPrefix } from '../context/shared-prefix.ts';
import type { Remarks, Usage } from '../event/content.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import { evolve, initial } from '../session/evolve.ts';
import { textChanges, type TextChange } from './changing-text.ts';
import { frameCauses, type FrameCause } from './frame-change.ts';

export type ReuseCause =
  | FrameCause
  /** Another choice of what requests hold, a summary in place of what it stands for, reasoning taken out. */
  | { readonly kind: 'selection'; readonly seq: number }
  /** An earlier part has other words, although nothing in the log says that it should. */
  | { readonly kind: 'rewritten'; readonly seq: number; readonly changes: readonly TextChange[] };

export type ReuseVerdict =
  | 'first'
  /** The provider said nothing about its cache. */
  | 'not-reported'
  | 'as-expected'
  | 'less'
  | 'more';

export type ReuseRow = {
  /** Of the newer request, counted from 1. */
  readonly number: number;
  readonly seq: number;
  readonly bytes: number;
  readonly parts: number;
  /** UTF-8 bytes and whole parts that are those of the request before, from the first byte on. */
  readonly sharedBytes: number;
  readonly sharedParts: number;
  /** Estimate: the part of the bytes before, of the tokens that the provider counted for them. */
  readonly sharedTokens: number | undefined;
  /** All tokens that went in, as the provider counted. */
  readonly tokens: number | undefined;
  /** The event of the first part that differs; undefined where it is what stands before the parts, or nothing is. */
  readonly firstSeq: number | undefined;
  /** Empty where the request only goes on: then all new tokens are new words. */
  readonly causes: readonly ReuseCause[];
  /** Tokens of the request before that had to be read anew, and US dollars that this cost beyond a cache read. */
  readonly lostTokens: number | undefined;
  readonly lostUsd: number | undefined;
  readonly reported: Usage | undefined;
  /** What the provider said about its cache and the input beside the counts. */
  readonly remarks: Remarks | undefined;
  /** Milliseconds since the answer before. */
  readonly gapMs: number | undefined;
  readonly verdict: ReuseVerdict;
};

type Sent = {
  readonly agent: AgentDefinition;
  readonly at: number;
  readonly changedChoice: boolean;
  usage: Usage | undefined;
  remarks: Remarks | undefined;
  answeredAt: number | undefined;
};

export type ReuseOptions = { readonly prices: Prices };

/** `requests` are those of rebuildAll over the same events. */
export const cacheReuse = async (
  session: string,
  events: readonly LogEvent[],
  requests: AsyncIterable<WalkedRequest>,
  { prices }: ReuseOptions,
): Promise<readonly ReuseRow[]> => {
  const sent = sentOf(session, events);
  const rows: ReuseRow[] = [];
  let last: Placed | undefined;
  for await (const request of requests) {
    const how = sent.get(request.seq);
    if (!how) continue;
    const placed: Placed = { request, how };
    rows.push(rowOf(rows.length + 1, last, placed, prices));
    last = placed;
  }
  return rows;
};

type Placed = { readonly request: WalkedRequest; readonly how: Sent };

const sentOf = (session: string, events: readonly LogEvent[]): ReadonlyMap<number, Sent> => {
  const found = new Map<number, Sent>();
  let state = initial(session);
  let last: Sent | undefined;
  for (const event of events) {
    state = evolve(state, event);
    if (event.type === 'request.built') {
      const changedChoice = Object.hasOwn(event.data, 'selection') || Object.hasOwn(event.data, 'summary');
      const unanswered = { usage: undefined, remarks: undefined, answeredAt: undefined };
      last = { agent: state.agent, at: event.at, changedChoice, ...unanswered };
      found.set(event.seq, last);
    }
    if (last && event.type === 'response.received') {
      last.usage = event.data.usage;
      last.remarks = event.data.remarks;
      last.answeredAt = event.at;
    }
  }
  return found;
};

const bytesOf = ({ head, parts, tail }: WalkedRequest): number =>
  [head, tail, ...parts].reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
  Math.max(0, parts.length - 1);

const rowOf = (
  number: number,
  last: Placed | undefined,
  { request, how }: Placed,
  prices: Prices,
): ReuseRow => {
  const bytes = bytesOf(request);
  const tokens = how.usage && inputTokens(how.usage);
  const common = {
    number,
    seq: request.seq,
    bytes,
    parts: request.parts.length,
    tokens,
    reported: how.usage,
    remarks: how.remarks,
  };
  if (!last) return { ...common, ...NOTHING_BEFORE, sharedTokens: tokens === undefined ? undefined : 0 };
  const known = request.kept;
  const shared = sharedPrefix(last.request, request, known);
  const sharedTokens = tokensOfPrefix(shared.bytes, last, { request, how });
  const causes = shared.appended ? [] : causesOf(last, { request, how }, shared.parts);
  const lost = shared.appended ? 0 : lostTokens(last, shared.bytes);
  return {
    ...common,
    sharedBytes: shared.bytes,
    sharedParts: shared.parts,
    sharedTokens,
    firstSeq: shared.place === 'head' ? undefined : request.seqs[shared.parts],
    causes,
    lostTokens: lost,
    lostUsd: lost === undefined ? undefined : lostUsd(how, lost, prices),
    gapMs: last.how.answeredAt === undefined ? undefined : Math.max(0, how.at - last.how.answeredAt),
    verdict: verdictOf(how.usage, sharedTokens),
  };
};

const NOTHING_BEFORE = {
  sharedBytes: 0,
  sharedParts: 0,
  firstSeq: undefined,
  causes: [],
  lostTokens: 0,
  lostUsd: 0,
  gapMs: undefined,
  verdict: 'first',
} as const;

/** The older request's own count is nearest to what its cache holds; without one the newer one's has to do. */
const tokensOfPrefix = (shared: number, last: Placed, now: Placed): number | undefined => {
  const { request, how } = last.how.usage ? last : now;
  return how.usage && Math.round(inputTokens(how.usage) * Math.min(1, shared / bytesOf(request)));
};

/** What the request before had, less what is shared with it. */
const lostTokens = ({ request, how }: Placed, sharedBytes: number): number | undefined => {
  if (!how.usage) return undefined;
  const bytes = bytesOf(request);
  return Math.round((inputTokens(how.usage) * Math.max(0, bytes - sharedBytes)) / bytes);
};

const MILLION = 1_000_000;

/** What the lost tokens cost beyond what reading them from the cache would have. */
const lostUsd = ({ agent, at, usage }: Sent, tokens: number, prices: Prices): number | undefined => {
  const { provider, name } = agent.model;
  const rates = ratesAt(prices, { provider, model: name, at }, usage ? inputTokens(usage) : tokens);
  if (!rates) return tokens === 0 ? 0 : undefined;
  const { input, cacheRead = input, cacheWrite = input } = rates;
  const paid = usage && usage.cacheWrite > 0 ? cacheWrite : input;
  return roundUsd((tokens * Math.max(0, paid - cacheRead)) / MILLION);
};

/** Counts by bytes are estimates, and caches work in blocks: a fifth more or less is as expected. */
const TOLERANCE = 0.2;
/** Differences of so few tokens say nothing. */
const TOKENS_SAME = 256;

const verdictOf = (usage: Usage | undefined, expected: number | undefined): ReuseVerdict => {
  if (!usage || expected === undefined) return 'not-reported';
  const difference = usage.cacheRead - expected;
  if (Math.abs(difference) <= Math.max(TOKENS_SAME, expected * TOLERANCE)) return 'as-expected';
  return difference < 0 ? 'less' : 'more';
};

const causesOf = (last: Placed, { request, how }: Placed, parts: number): readonly ReuseCause[] => {
  const frame = frameCauses(
    { agent: last.how.agent, head: last.request.head },
    { agent: how.agent, head: request.head },
  );
  if (frame.length > 0) return frame;
  if (how.changedChoice || last.how.changedChoice) return [{ kind: 'selection', seq: request.seq }];
  const seq = request.seqs[parts] ?? last.request.seqs[parts] ?? request.seq;
  const [before = '', after = ''] = [last.request.parts[parts], request.parts[parts]];
  return [{ kind: 'rewritten', seq, changes: textChanges(before, after) }];
};
