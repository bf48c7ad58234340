/** What the model is told about how a call ended. One text per closing; the facts first, then what to make of it. */
import { callPosition } from '../event/call-id.ts';
import type { Content } from '../event/content.ts';
import type { CallState } from '../session/state.ts';

export type ResultText = { readonly text: string; readonly isError: boolean };

export const contentText = (content: readonly Content[]): string =>
  content
    .map((part) => {
      switch (part.type) {
        case 'text':
        case 'json':
          return part.text;
        case 'blob': {
          const name = part.blob.name === undefined ? '' : ` "${part.blob.name}"`;
          return `[file${name}: ${part.blob.media}, ${part.blob.bytes} bytes, kept in the record]`;
        }
        default:
          return part satisfies never;
      }
    })
    .join('\n\n');

/** `inner` are the calls that it made. */
export const resultText = (call: CallState, inner: readonly CallState[] = []): ResultText => {
  const { text, isError } = closingText(call);
  if (inner.length === 0 && !call.edited) return { text, isError };
  const notes = inner.flatMap((made) => noteOf(made, call.closing?.kind === 'ok') ?? []);
  const told = notes.length === 0 ? text : `${text}\n${notes.join('\n')}`;
  if (!call.edited || call.attempt === 0) return { text: told, isError };
  return { text: `[A person changed the arguments of this call to ${call.args}]\n${told}`, isError };
};

/**
 * What the maker of a call cannot say of it: that a person had a hand in it, and, where the maker brought no result,
 * what became of it at all.
 */
const noteOf = (made: CallState, hasResult: boolean): string | undefined => {
  const { edited, attempt, closing, args, tool } = made;
  const changed = edited && attempt > 0 ? ` A person changed its arguments to ${args}.` : '';
  const answered = closing?.kind === 'responded' || (closing?.kind === 'ok' && closing.by === 'person');
  const person = answered ? ' Its result was given by a person.' : '';
  if (hasResult && changed === '' && person === '') return undefined;
  const { text, isError } = closingText(made);
  const fate = hasResult ? '' : isError ? ` ${text}` : ' It was made and has its result.';
  return `[Its call ${callPosition(made.id).inner ?? 0}, of ${tool}:${fate}${changed}${person}]`;
};

/** What the model is told of a call that stayed behind in the session that this one was branched from. */
const FORKED: Readonly<Record<'not-run' | 'unknown', string>> = {
  'not-run':
    'The session was branched off here before this call was run. It was not run in this branch and will not be.',
  unknown:
    'The session was branched off here while this call was under way. It was started before; what became of it is ' +
    'not known in this branch. Find out before you do it again.',
};

const error = (text: string): ResultText => ({ text, isError: true });

const closingText = (call: CallState): ResultText => {
  const { closing } = call;
  switch (closing?.kind) {
    case undefined:
      return error(
        'This call was started and has no result. Whether it happened is not known. Do not repeat it before that is clear.',
      );
    case 'ok':
      return { text: okPrefix(closing.by) + okText(closing), isError: false };
    case 'failed':
      return error(`The call failed (${closing.code}): ${closing.message}`);
    case 'rejected':
      return error(closing.message);
    case 'denied':
      return error(
        `A person rejected this call; it was not run.${closing.reason === undefined ? '' : ` Reason: ${closing.reason}`}`,
      );
    case 'responded':
      return { text: contentText(closing.content), isError: false };
    case 'cancelled':
      if (closing.fork) return error(FORKED[closing.fork]);
      return error(
        closing.started
          ? 'The turn was cancelled while this call ran; it was stopped without an effect.'
          : 'The turn was cancelled before this call was started. It was not run.',
      );
    case 'expired':
      return error(
        call.decided && call.decided.digest === call.digest
          ? 'This call was approved, but could not be started before its deadline. It was not run.'
          : 'Nobody decided about this call before its deadline. It was not run.',
      );
    case 'withheld':
      return { text: closing.message, isError: closing.mode !== 'dry-run' };
    case 'given-up':
      return error(
        `This call was started and whether it happened is not known; a person gave it up.${
          closing.note === undefined ? '' : ` Note: ${closing.note}`
        }`,
      );
    default:
      return closing satisfies never;
  }
};

const okText = ({ content, nothing }: { content: readonly Content[]; nothing?: true }): string => {
  if (nothing) return '(The tool ran and returned nothing.)';
  const text = contentText(content);
  // Providers refuse empty text.
  return text === '' ? '(The tool ran and returned an empty text.)' : text;
};

const okPrefix = (by: 'late-result' | 'reconcile' | 'person' | undefined): string => {
  switch (by) {
    case undefined:
      return '';
    case 'late-result':
      return '[This result came late, after its time had run out.]\n';
    case 'reconcile':
      return '[The run was interrupted; the tool has checked that this happened.]\n';
    case 'person':
      return '[The run was interrupted; a person says that this happened.]\n';
    default:
      return by satisfies never;
  }
};
