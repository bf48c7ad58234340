/** What the options of onrecord context ask to be changed. */
import { badInput } from '../errors.ts';
import type { SelectionPolicy } from '../event/definition.ts';
import type { SelectionChange } from '../event/events.ts';
import type { Input } from './command.ts';
import { givenOption, isGiven } from './given.ts';

const WISHES = [
  ['without', 'leave-out'],
  ['with', 'take-back'],
  ['pin', 'pin'],
  ['unpin', 'unpin'],
] as const;

export type AskedChange =
  | { readonly kind: 'select'; readonly change: SelectionChange }
  | { readonly kind: 'compact' };

/** Undefined where nothing is to be changed. Throws `usage`. */
export const askedChange = (input: Input): AskedChange | undefined => {
  const changes: AskedChange[] = [];
  for (const [option, wish] of WISHES) {
    const text = givenOption(input, option);
    if (text !== undefined)
      changes.push({ kind: 'select', change: { do: wish, turns: turnsOf(option, text) } });
  }
  const policy = givenOption(input, 'policy');
  if (policy !== undefined) {
    const asked = policyOf(policy);
    changes.push({ kind: 'select', change: { do: 'policy', ...(asked && { policy: asked }) } });
  }
  if (isGiven(input, 'summarise')) changes.push({ kind: 'compact' });
  if (changes.length <= 1) return changes[0];
  throw badInput(
    'usage',
    'One change at a time: --without, --with, --pin, --unpin, --policy or --summarise.',
    {},
    'onrecord help context',
  );
};

const TURNS_MAX = 10_000;

/** "3", "1,4", "2-5". */
const turnsOf = (option: string, text: string): readonly number[] => {
  const turns = text.split(',').flatMap((piece) => {
    const found = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(piece);
    const [from, to] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? found?.[1] ?? 0)];
    if (from < 1 || to < from || to - from >= TURNS_MAX)
      throw badInput(
        'usage',
        `--${option} "${text}" names no turns. It takes numbers, as in "3" or "1,4-6".`,
        { [option]: text },
      );
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  return [...new Set(turns)];
};

/** "all", "last-turns:5", "budget:50000", or "agent" for the agent's own. */
const policyOf = (text: string): SelectionPolicy | undefined => {
  if (text === 'agent') return undefined;
  if (text === 'all') return { kind: 'all' };
  const [, kind, count] = /^(last-turns|budget):(\d{1,12})$/.exec(text) ?? [];
  if (kind === 'last-turns' && Number(count) > 0) return { kind, turns: Number(count) };
  if (kind === 'budget' && Number(count) > 0) return { kind, tokens: Number(count) };
  throw badInput(
    'usage',
    `--policy "${text}" is none. There are all, last-turns:N, budget:TOKENS and agent.`,
    { policy: text },
  );
};
