/** What a report on cache reuse says in words: one sentence a cause, the changing text quoted. */
import { CHANGE_WORDS, type ChangeKind, type TextChange } from './changing-text.ts';
import { countOf, formatCount, formatDuration } from './format.ts';
import { isReason } from './remark-words.ts';
import type { ReuseCause, ReuseRow } from './cache-reuse.ts';

/** Quoted texts come from prompts: whoever shows them treats them as foreign. */
export type CauseWords = {
  readonly text: string;
  readonly quotes: readonly { readonly before: string; readonly after: string }[];
};

const plain = (text: string): CauseWords => ({ text, quotes: [] });

export const causeWords = (cause: ReuseCause): CauseWords => {
  switch (cause.kind) {
    case 'encoder':
      return plain(`another provider: ${cause.after} instead of ${cause.before}`);
    case 'model':
      return plain(`another model: ${cause.after} instead of ${cause.before}`);
    case 'params':
      return plain(`other parameters: ${cause.names.join(', ')}`);
    case 'tool-order':
      return plain(`the order of tools: ${cause.names.join(', ')}`);
    case 'tools':
      return plain(
        [
          ...(cause.added.length > 0 ? [`tools added: ${cause.added.join(', ')}`] : []),
          ...(cause.removed.length > 0 ? [`tools removed: ${cause.removed.join(', ')}`] : []),
        ].join('; '),
      );
    case 'tool-definition':
      return changed(`in the definition of ${cause.name}`, cause.changes);
    case 'instructions':
      return changed('in the instructions', cause.changes);
    case 'frame':
      return changed('in what the adapter puts around the conversation', cause.changes);
    case 'selection':
      return plain('another choice of what requests hold, see onrecord context');
    case 'rewritten':
      return changed(`in what stands for event ${cause.seq}`, cause.changes);
    default:
      return cause satisfies never;
  }
};

/** The most telling first: a clock is a clock although a number moved with it. */
const TELLING: readonly ChangeKind[] = ['clock', 'date', 'id', 'counter', 'text'];
const QUOTES_MAX = 3;

const changed = (where: string, changes: readonly TextChange[]): CauseWords => {
  const kind = TELLING.find((one) => changes.some((change) => change.kind === one)) ?? 'text';
  const of = changes.filter((change) => change.kind === kind);
  return {
    text: `${CHANGE_WORDS[kind]} ${where}`,
    quotes: of.slice(0, QUOTES_MAX).map(({ before, after }) => ({ before, after })),
  };
};

/** The smallest prefix that any provider keeps, and the shortest time it is kept. */
const SMALLEST_PREFIX_TOKENS = 512;
const SHORTEST_LIFETIME_MS: number = 5 * 60 * 1000;

/** Why a provider may have read less than the bytes allow; undefined where nothing is to explain. */
export const lessWords = ({
  verdict,
  sharedTokens = 0,
  gapMs = 0,
  reported,
  remarks,
}: ReuseRow): string | undefined => {
  if (verdict !== 'less') return undefined;
  const read = `${formatCount(reported?.cacheRead ?? 0)} of ${countOf(sharedTokens, 'expected token')} came from the cache`;
  // Why it did so, the provider says on a line of its own.
  if (remarks?.cache && isReason(remarks.cache.said)) return read;
  if (sharedTokens < SMALLEST_PREFIX_TOKENS) return `${read}: too few for any cache`;
  if (gapMs > SHORTEST_LIFETIME_MS)
    return `${read}: ${formatDuration(gapMs)} had passed since the answer before`;
  return `${read}; the record does not say why`;
};
