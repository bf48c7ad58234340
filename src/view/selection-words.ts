/** What people have said about what requests hold, in words. */
import type { EventData, SelectionChange } from '../event/events.ts';
import type { SelectionPolicy } from '../event/definition.ts';
import { countOf, formatCount } from './format.ts';

export const DISCARDED_WORDS: Readonly<Record<EventData['summary.discarded']['reason'], string>> = {
  empty: 'the model wrote none',
  incomplete: 'the model did not come to its end',
  'not-smaller': 'it is not smaller than what it stands for',
};

export const policyWords = (policy: SelectionPolicy): string => {
  switch (policy.kind) {
    case 'all':
      return 'everything';
    case 'budget':
      return `at most ${countOf(policy.tokens, 'token')}`;
    case 'last-turns':
      return `the last ${countOf(policy.turns, 'turn')}`;
    default:
      return policy satisfies never;
  }
};

/** "left turn 1 out of later requests" */
export const changeWords = ({ change, dropsReasoning }: EventData['selection.changed']): string =>
  `${wishWords(change)}${dropsReasoning ? ', signed reasoning behind the cut is taken out' : ''}`;

const wishWords = (change: SelectionChange): string => {
  if (change.do === 'policy')
    return change.policy
      ? `let requests hold ${policyWords(change.policy)}`
      : 'let the agent choose what requests hold';
  const { do: wish, turns: list } = change;
  const turns = `${list.length === 1 ? 'turn' : 'turns'} ${list.map(formatCount).join(', ')}`;
  switch (wish) {
    case 'leave-out':
      return `left ${turns} out of later requests`;
    case 'take-back':
      return `took ${turns} back into later requests`;
    case 'pin':
      return `pinned ${turns} to later requests`;
    case 'unpin':
      return `no longer pins ${turns} to later requests`;
    default:
      return wish satisfies never;
  }
};
