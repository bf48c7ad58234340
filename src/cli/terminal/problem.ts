/** Errors as people read them: what happened, what was expected, what to do, and the code. */
import { isOnrecordError, type OnrecordError } from '../../errors.ts';
import { cells, cut, wrap } from './cells.ts';
import { fit, type Look } from './look.ts';
import { concat, dim, EMPTY, line, own, repeat, SIGN, theirLines, theirs, type Shown } from './shown.ts';

export type ProblemOptions = {
  readonly look: Look;
  /** Print the stack, as asked for with --trace. */
  readonly trace?: boolean;
  /** The session that the fault happened in. */
  readonly session?: string;
  /** Where the trace was written. */
  readonly traceFile?: string;
};

const INDENT_CELLS = 2;

/** First sentence and rest. Text within quotes is not searched for the end of a sentence. */
const headAndRest = (message: string): readonly [string, string] => {
  const newline = message.indexOf('\n');
  const first = newline < 0 ? message : message.slice(0, newline);
  const after = newline < 0 ? '' : message.slice(newline + 1);
  let quoted = false;
  for (let at = 0; at < first.length; at++) {
    const character = first[at] ?? '';
    if (character === '“' || (character === '"' && !quoted)) quoted = true;
    else if (character === '”' || character === '"') quoted = false;
    else if (!quoted && /[.?]/.test(character) && first[at + 1] === ' ')
      return [first.slice(0, at + 1), [first.slice(at + 2), after].filter((part) => part !== '').join('\n')];
  }
  return [first, after];
};

/** A line of a quoted file, as in `14 │     text`: behind the margin the file's own indentation begins. */
const QUOTED_LINE = /^( *\d* *│ )(.*)$/u;

/** A message line by line; what it quotes of a file keeps its indentation. */
export const messageLines = (message: string): Shown[] =>
  message.split('\n').flatMap((words) => {
    const [, margin, rest] = QUOTED_LINE.exec(words) ?? [];
    if (margin === undefined || rest === undefined) return theirLines(words);
    return theirLines(rest).map((shown) => concat(...theirLines(margin), shown));
  });

const paragraph = (message: string, look: Look): Shown[] =>
  messageLines(message).flatMap((shown) => {
    const depth = INDENT_CELLS + (/^ */.exec(shown.plain)?.[0].length ?? 0);
    const indented = concat(repeat(' ', INDENT_CELLS), fit(shown, look));
    return wrap(indented, look.textColumns, { hanging: Math.min(depth, look.textColumns / 2) });
  });

const headLines = (head: string, code: string, look: Look): Shown[] => {
  const sentence = fit(theirs(head), look);
  const tail = line`  ${dim(code)}`;
  const room = look.columns - 2 - cells(tail);
  if (!look.terminal || cells(sentence) <= room) return [line`${SIGN.fail} ${sentence}${tail}`];
  // The first line stays one line; the sentence follows whole, so that nothing is lost.
  return [line`${SIGN.fail} ${cut(sentence, room, look.ascii)}${tail}`, ...paragraph(head, look)];
};

const expected = (error: OnrecordError, look: Look): Shown[] => {
  const [head, rest] = headAndRest(error.message);
  return [
    ...headLines(head, error.code, look),
    ...(rest === '' ? [] : paragraph(rest, look)),
    ...(error.hint === undefined ? [] : paragraph(error.hint, look)),
  ];
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const fault = (error: unknown, options: ProblemOptions): Shown[] => {
  const { look, session, traceFile } = options;
  const code = isOnrecordError(error) ? error.code : 'internal-error';
  const message = messageOf(error);
  const text = [
    ...(message === '' ? [] : [message]),
    ...(session === undefined ? [] : [`Session ${session} is whole up to its last event.`]),
    traceFile === undefined ? 'Run it again with --trace to see where.' : `The trace is in ${traceFile}.`,
  ];
  const asked = options.trace === true;
  return [
    ...headLines('This is a fault of Onrecord, not of your input.', code, look),
    ...text
      .slice(0, asked && traceFile === undefined ? -1 : undefined)
      .flatMap((part) => paragraph(part, look)),
  ];
};

const traceLines = (error: unknown, look: Look): Shown[] => {
  const stack = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
  const cause = error instanceof Error && error.cause !== undefined ? [own('  caused by')] : [];
  const inner =
    error instanceof Error && error.cause !== undefined ? traceLines(error.cause, look).slice(1) : [];
  return [
    EMPTY,
    ...theirLines(stack).map((shown) => concat(repeat(' ', INDENT_CELLS), dim(fit(shown, look)))),
    ...cause,
    ...inner,
  ];
};

/** The lines for stderr. */
export const problemLines = (error: unknown, options: ProblemOptions): Shown[] => {
  const ours = isOnrecordError(error) && error.next !== 'bug';
  return [
    ...(ours ? expected(error, options.look) : fault(error, options)),
    ...(options.trace === true ? traceLines(error, options.look) : []),
  ];
};

/** The same for programs. */
export const problemJson = (error: unknown): Readonly<Record<string, unknown>> => {
  if (!isOnrecordError(error)) return { code: 'internal-error', next: 'bug', message: messageOf(error) };
  const { code, next, message, details, hint } = error;
  return { code, next, message, details, ...(hint !== undefined && { hint }) };
};
