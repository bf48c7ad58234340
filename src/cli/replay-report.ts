/** What a replay found, as lines: identical with its counts, or where, what and why it differs. */
import { firstDifference } from '../replay/difference.ts';
import type { Replayed, ReplayDifference } from '../replay/replay.ts';
import type { Json } from '../event/json.ts';
import { canonical } from '../event/canonical.ts';
import { patchOf } from '../view/arguments.ts';
import { differenceWords, type FoundDifference } from '../view/difference.ts';
import { countOf, formatCount, formatDuration } from '../view/format.ts';
import { eventAt, type SessionRecord } from '../view/record.ts';
import { frameValue, prettyRequest, type RequestPair } from '../view/request-difference.ts';
import { wrap } from './terminal/cells.ts';
import { diffLines } from './terminal/diff.ts';
import { fit, type Look } from './terminal/look.ts';
import { concat, dim, EMPTY, line, own, role, SIGN, strong, whole, type Shown } from './terminal/shown.ts';

export const identicalLines = (found: Replayed, ms: number, all: number): Shown[] => {
  const { events, decisions, requests, requestsUnknown, state } = found;
  const upTo = events < all ? line` up to event ${formatCount(events)} of ${formatCount(all)}` : own('');
  return [
    line`${SIGN.ok} Replay is identical${upTo}: ${countOf(events, 'event')}, ${countOf(decisions, 'decision')}, ${countOf(requests, 'request')} byte for byte.`,
    line`  No network, no tools, no clock. ${formatDuration(ms)}.`,
    ...unknownLines(requestsUnknown, state.agent.model.provider),
  ];
};

/** What was not compared is said. */
export const unknownLines = (requests: number, provider: string): Shown[] => {
  if (requests === 0) return [];
  const were = requests === 1 ? 'was' : 'were';
  return [
    line`  ${SIGN.wait} ${countOf(requests, 'request')} ${were} not compared: this build has no adapter for ${provider}.`,
  ];
};

export type DifferReport = {
  readonly found: Replayed;
  readonly difference: ReplayDifference;
  readonly record: SessionRecord;
  /** The last event of the log. */
  readonly head: number;
  readonly look: Look;
  /** For a request, and where --diff asks for it. */
  readonly pair: RequestPair | undefined;
};

export const differLines = (report: DifferReport): Shown[] => {
  const { difference, record, head, look, pair } = report;
  const { seq, type, path } = difference;
  const event = eventAt(record, seq);
  const words = differenceWords(difference, event?.data ?? dataOf(difference.now));
  const place = words.place === '' ? own('') : line`   ${words.place}`;
  const within = pair && withinRequest(pair);
  const identical = seq - 1;
  const before = identical === 1 ? 'event before is' : 'events before are';
  return [
    line`${SIGN.fail} Replay differs at event ${formatCount(seq)} of ${formatCount(head)}.  ${dim(own('replay-differs'))}`,
    EMPTY,
    line`  ${strong(type)}${place}`,
    ...sideLines(own('at'), path, words),
    ...(within
      ? sideLines(own('in the request'), within.path, { ...differenceWords(within, undefined), meaning: '' })
      : []),
    EMPTY,
    ...wrap(
      fit(
        line`  Likely cause: ${causeOf(difference, within)}. The ${formatCount(identical)} ${before} identical.`,
        look,
      ),
      look.textColumns,
      { hanging: 2 },
    ),
  ];
};

type Sides = { readonly meaning: string; readonly recorded: string; readonly now: string };

const sideLines = (at: Shown, path: string, { meaning, recorded, now }: Sides): Shown[] => [
  concat(
    line`  ${at}  `,
    path === '' ? own('the whole event') : whole(path),
    meaning === '' ? EMPTY : line`   ${dim(meaning)}`,
  ),
  line`   ${role('del', line`- recorded   ${recorded}`)}`,
  line`   ${role('add', line`+ now        ${now}`)}`,
];

/** Of a request the difference within it says more than that of its digests. */
const causeOf = ({ cause }: ReplayDifference, within: FoundDifference | undefined): string => {
  if (!within || within.path.startsWith('/parts') || !cause.startsWith('the prompt')) return cause;
  if (/^\/tools?\b/.test(within.path))
    return 'a tool definition: what the model is offered is not what was sent';
  if (/^\/(?:instructions|system)\b/.test(within.path))
    return 'the prompt: the instructions are not what was sent';
  return 'the prompt: settings of the request are not what was sent';
};

/** In a request the digests say nothing: the first difference within what they stand for does. */
export const withinRequest = ({ recorded, now }: RequestPair): FoundDifference | undefined => {
  if (!recorded || !now) return undefined;
  const [before, after] = [frameValue(recorded), frameValue(now)] as [Json | undefined, Json | undefined];
  const base = { seq: 0, type: 'request' };
  if (before !== undefined && after !== undefined && canonical(before) !== canonical(after))
    return { ...base, ...firstDifference(before, after) };
  const count = Math.max(recorded.parts.length, now.parts.length);
  for (let index = 0; index < count; index++) {
    const [one, other] = [recorded.parts[index], now.parts[index]];
    if (one === other) continue;
    const [old, made] = [valueOf(one), valueOf(other)];
    if (old === undefined || made === undefined)
      return { ...base, path: `/parts/${index}`, recorded: old, now: made };
    const inner = firstDifference(old, made);
    return { ...base, ...inner, path: `/parts/${index}${inner.path}` };
  }
  return undefined;
};

const valueOf = (text: string | undefined): Json | undefined => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

const dataOf = (decision: Json | undefined): unknown =>
  typeof decision === 'object' && decision !== null && 'data' in decision ? decision.data : undefined;

/** Both sides whole, as a diff. */
export const wholeDiffLines = ({ difference, pair, look }: DifferReport): Shown[] => {
  const patch =
    pair?.recorded && pair.now
      ? patchOf('request', prettyRequest(pair.recorded), prettyRequest(pair.now))
      : patchOf(difference.type, prettyValue(difference.recorded), prettyValue(difference.now));
  if (patch === '') return [line`  Both sides read the same; the difference is in their bytes.`];
  return [EMPTY, dim(own('  - recorded   + now')), ...diffLines(patch, look)];
};

const prettyValue = (value: Json | undefined): string =>
  value === undefined ? '' : JSON.stringify(JSON.parse(canonical(value)), null, 2);
