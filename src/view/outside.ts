/**
 * Text from outside that the model had before it when it asked for a call: results of tools that strangers can
 * write to. Where a value of the arguments stands in one of them, the place is quoted.
 */
import { contentText } from '../context/result-text.ts';
import { callPosition, type CallId } from '../event/call-id.ts';
import type { Content } from '../event/content.ts';
import type { LogEvent } from '../event/events.ts';
import { toolOf } from '../session/state.ts';
import { leavesOf } from './arguments.ts';
import type { SessionRecord } from './record.ts';

export type OutsideText = {
  /** The event that holds it. */
  readonly seq: number;
  readonly tool: string;
  /** The lines around the value that the arguments repeat; absent where they repeat none of it. */
  readonly quote?: string;
  /** JSON Pointer to that argument. */
  readonly argument?: string;
};

/** Characters of a quote to each side of what it is about. */
const QUOTE_AROUND = 80;
/** Shorter values stand in a text by accident. */
const VALUE_LENGTH_MIN = 5;

/** In the order of the log, those that the arguments repeat first. */
export const outsideTexts = (record: SessionRecord, call: CallId, args: string): readonly OutsideText[] => {
  const { turn, step } = callPosition(call);
  const request = record.events.findLast(
    ({ type, data }) => type === 'request.built' && data.turn === turn && data.step === step,
  );
  if (!request) return [];
  const tools = toolsOf(record);
  const wanted = tokensOf(args);
  const texts = record.events.slice(0, request.seq).flatMap((event) => {
    const found = resultOf(event);
    const tool = found && tools.get(found.call);
    if (tool === undefined || !toolOf(record.state.agent, tool)?.labels.untrusted) return [];
    return [{ seq: event.seq, tool, ...quoted(contentText(found?.content ?? []), wanted) }];
  });
  return texts.toSorted((one, other) => Number('quote' in other) - Number('quote' in one));
};

const toolsOf = ({ events }: SessionRecord): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap((event) =>
      event.type === 'call.proposed' ? [[event.data.call, event.data.tool] as const] : [],
    ),
  );

const resultOf = (
  event: LogEvent,
): { readonly call: string; readonly content: readonly Content[] } | undefined => {
  switch (event.type) {
    case 'call.result':
    case 'call.late': {
      const { call, outcome } = event.data;
      return outcome.kind === 'ok' ? { call, content: outcome.content } : undefined;
    }
    case 'call.reconciled': {
      const { call, answer } = event.data;
      return answer.happened === true ? { call, content: answer.content } : undefined;
    }
    default:
      return undefined;
  }
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
  const from = Math.max(0, at - QUOTE_AROUND);
  const to = Math.min(text.length, at + length + QUOTE_AROUND);
  const cut = text.slice(from, to).toWellFormed();
  return `${from > 0 ? '… ' : ''}${cut.trim()}${to < text.length ? ' …' : ''}`;
};
