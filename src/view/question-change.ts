/** What is different between a question that somebody saw and the one that stands now. */
import { canonical } from '../event/canonical.ts';
import type { Json } from '../event/json.ts';
import { argumentsPatch, patchOf } from './arguments.ts';
import type { Question } from './approval.ts';

export type QuestionChange =
  | {
      readonly what: 'arguments' | 'preview';
      /** Unified diff. */
      readonly patch: string;
    }
  /** The tool's own version of what it will act on, its definition, or only that it was asked anew. */
  | { readonly what: 'base' | 'tool' | 'round' };

export const questionChanges = (seen: Question, now: Question): readonly QuestionChange[] => {
  const changes: QuestionChange[] = [];
  if (seen.args !== now.args) changes.push({ what: 'arguments', patch: argumentsPatch(seen.args, now.args) });
  const [before, after] = [textOf(seen.preview), textOf(now.preview)];
  if (before !== after) changes.push({ what: 'preview', patch: patchOf('preview', before, after) });
  if (canonical(seen.base ?? null) !== canonical(now.base ?? null)) changes.push({ what: 'base' });
  if (seen.definition?.digest !== now.definition?.digest) changes.push({ what: 'tool' });
  if (changes.length === 0) changes.push({ what: 'round' });
  return changes;
};

const textOf = (preview: Question['preview']): string =>
  preview === undefined ? '' : JSON.stringify(sorted(preview), null, 2);

/** Members in canonical order, so that only a difference in meaning is one in the text. */
const sorted = (value: Json): Json => JSON.parse(canonical(value)) as Json;
