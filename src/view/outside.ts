/**
 * Texts of strangers, and private ones, that the model had before it when it asked for a call: results of tools with
 * these labels, what such tools said when they failed, and input that was not the asker's own word. Where a value of
 * the arguments stands in one of them, the place is quoted.
 */
import { contentText } from '../context/result-text.ts';
import { callPosition, makerOf, type CallId } from '../event/call-id.ts';
import type { Content, Outcome } from '../event/content.ts';
import type { SeenLabel } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import { labelsOf } from '../session/labels.ts';
import { toolOf } from '../session/state.ts';
import { leavesOf } from './arguments.ts';
import type { SessionRecord } from './record.ts';

export type OutsideText = {
  /** The event that holds it. */
  readonly seq: number;
  /** The tool whose call brought it; absent where it came in with a message. */
  readonly tool?: string;
  readonly call?: CallId;
  readonly labels: readonly SeenLabel[];
  /** Characters (UTF-16 units) of the whole text. */
  readonly length: number;
  /** The lines around the value that the arguments repeat; absent where they repeat none of it. */
  readonly quote?: string;
  /** JSON Pointer to that argument. */
  readonly argument?: string;
};

/** Characters of a quote to each side of what it is about. */
const QUOTE_AROUND = 80;
/** Shorter values stand in a text by accident. */
const VALUE_LENGTH_MIN = 5;

/** In the order of the log; what the arguments repeat comes first, and of that what strangers wrote. */
export const outsideTexts = (record: SessionRecord, call: CallId, args: string): readonly OutsideText[] => {
  const { turn, step } = callPosition(call);
  const request = record.events.findLast(
    ({ type, data }) => type === 'request.built' && data.turn === turn && data.step === step,
  );
  if (!request) return [];
  const tools = toolsOf(record);
  const wanted = tokensOf(args);
  return [...record.events.slice(0, request.seq - 1), ...saidToMaker(record, call)]
    .flatMap((event) => sourceOf(record, event, tools))
    .map(({ text, ...source }) => ({ ...source, length: text.length, ...quoted(text, wanted) }))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
};

/** What the calls said that the maker of this one had made before it. */
const saidToMaker = ({ events }: SessionRecord, call: CallId): readonly LogEvent[] => {
  const maker = makerOf(call);
  if (maker === undefined) return [];
  const until = events.findIndex(({ type, data }) => type === 'call.proposed' && data.call === call);
  return events
    .slice(0, until)
    .filter(({ data }) => 'call' in data && data.call !== undefined && makerOf(data.call) === maker);
};

const rankOf = ({ quote, labels }: OutsideText): number =>
  (quote === undefined ? 2 : 0) + (labels.includes('untrusted') ? 0 : 1);

const toolsOf = ({ events }: SessionRecord): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap((event) =>
      event.type === 'call.proposed' ? [[event.data.call, event.data.tool] as const] : [],
    ),
  );

type Source = Pick<OutsideText, 'seq' | 'tool' | 'call' | 'labels'> & { readonly text: string };

const sourceOf = (
  { state }: SessionRecord,
  event: LogEvent,
  tools: ReadonlyMap<string, string>,
): readonly Source[] => {
  if (event.type === 'turn.accepted' || event.type === 'turn.steered') {
    const { labels = [], input } = event.data;
    return labels.length === 0 ? [] : [{ seq: event.seq, labels, text: contentText(input) }];
  }
  const said = saidBy(event);
  const tool = said && tools.get(said.call);
  if (!said || tool === undefined) return [];
  const labels = labelsOf(toolOf(state.agent, tool));
  return labels.length === 0 ? [] : [{ seq: event.seq, tool, labels, ...said }];
};

/** What a tool said, its failures and late results too. */
const saidBy = (event: LogEvent): { readonly call: CallId; readonly text: string } | undefined => {
  switch (event.type) {
    case 'call.result':
    case 'call.late':
      return { call: event.data.call, text: outcomeText(event.data.outcome) };
    case 'call.reconciled': {
      const { call, answer } = event.data;
      if (answer.happened === true) return { call, text: readableText(answer.content) };
      return answer.happened === 'unknown' ? { call, text: answer.note } : undefined;
    }
    default:
      return undefined;
  }
};

const outcomeText = (outcome: Outcome): string =>
  outcome.kind === 'ok' ? readableText(outcome.content) : outcome.message;

/** Of JSON the texts in it, as they read: escapes would hide what the arguments repeat. */
const readableText = (content: readonly Content[]): string =>
  content.map((part) => (part.type === 'json' ? jsonText(part.text) : contentText([part]))).join('\n\n');

const jsonText = (text: string): string => {
  const words = leavesOf(text).flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return words.length === 0 ? text : words.join('\n');
};

type Token = { readonly pointer: string; readonly text: string };

/** Whole values, and the addresses and links within them. */
const tokensOf = (args: string): readonly Token[] =>
  leavesOf(args).flatMap(({ pointer, value }) => {
    if (typeof value !== 'string') return [];
    const inner = value.match(/https?:\/\/[^\s<>"')]+|[^\s@<>"',;:()]+@[^\s@<>"',;:()]+/gu) ?? [];
    return [value, ...inner]
      .filter((text) => text.trim().length >= VALUE_LENGTH_MIN)
      .map((text) => ({ pointer, text }));
  });

const quoted = (
  text: string,
  tokens: readonly Token[],
): { readonly quote: string; readonly argument: string } | undefined => {
  for (const token of tokens) {
    const at = text.indexOf(token.text);
    if (at < 0) continue;
    return { quote: around(text, at, token.text.length), argument: token.pointer };
  }
  return undefined;
};

const around = (text: string, at: number, length: number): string => {
  const end = at + length;
  const before = text.slice(Math.max(0, at - QUOTE_AROUND), at);
  const after = text.slice(end, end + QUOTE_AROUND);
  // At a word, unless that would leave nothing of it.
  const from = at - before.length === 0 ? 0 : at - before.replace(/^\S+\s/u, '').length;
  const to = end + after.length === text.length ? text.length : end + after.replace(/\s\S+$/u, '').length;
  const cut = text.slice(from, to).toWellFormed();
  return `${from > 0 ? '… ' : ''}${cut.trim()}${to < text.length ? ' …' : ''}`;
};
