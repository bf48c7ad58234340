/** The text of a message as a front end sends it. What is no text is refused: nothing is left out in silence. */
import { ProblemError } from '../problem.ts';

/** Characters of a thread's, a run's or a message's name. */
export const NAME_LENGTH_MAX = 255;

export type MessagePart = { readonly type: string; readonly text?: string | undefined };

const TEXT: ReadonlySet<string> = new Set(['text', 'input_text']);

/** Throws `not-supported`. */
export const messageText = (content: string | readonly MessagePart[]): string => {
  if (typeof content === 'string') return content;
  return content
    .map(({ type, text }) => {
      if (TEXT.has(type) && text !== undefined) return text;
      throw new ProblemError('not-supported', `A message holds text only; "${type.slice(0, 40)}" is none.`);
    })
    .join('\n\n');
};
