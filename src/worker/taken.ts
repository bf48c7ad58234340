/**
 * The preview of a call whose schema changes its arguments and whose tool has none of its own: the arguments as the
 * tool takes them. It is bound to them, so that what a yes was given to is what runs.
 */
import { sha256 } from '../event/canonical.ts';
import type { CallState } from '../session/state.ts';
import type { Preview } from '../tool/preview.ts';
import { NotSerializable, resultJson } from './result-json.ts';

/** A schema that fills in the time or chance gives other values each time: a question about them would never end. */
const BOUND_ROUNDS_MAX = 3;

export const takenPreview = ({ tool, round }: CallState, input: unknown): Preview => {
  const text = textOf(input);
  const title = 'Arguments as the tool takes them';
  if (text === undefined)
    return {
      title: tool,
      blocks: [],
      warnings: ['The schema of this tool makes something of the arguments that cannot be shown.'],
    };
  const blocks = [{ kind: 'text', title, text } as const];
  if (round < BOUND_ROUNDS_MAX) return { title: tool, blocks, base: sha256(text) };
  const changing =
    'The schema of this tool gives other values each time: what runs may differ from what is shown.';
  return { title: tool, blocks, warnings: [changing] };
};

const textOf = (input: unknown): string | undefined => {
  try {
    return resultJson(input);
  } catch (error) {
    if (error instanceof NotSerializable) return undefined;
    throw error;
  }
};
