/** What became of a card, in place of its buttons: by whom, when, and whether a press here came too late. */
import type { ReactNode } from 'react';
import type { FateView } from '../../server/inbox-shapes.ts';
import { PAST_WORDS, SETTLED_WORDS } from '../../view/card-words.ts';
import { formatDuration } from '../../view/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Moment } from '../parts/moment.tsx';
import { Revealed } from '../parts/text.tsx';

/** "Approved by ops-lead", "The question lapsed". */
export const fateWords = (fate: FateView, me: string): string => {
  const who = (name: string): string => (name === me ? 'you' : name);
  switch (fate.kind) {
    case 'decided':
      return `${capital(PAST_WORDS[fate.decision.do])} by ${who(fate.by.name)}`;
    case 'settled':
      return `Settled as “${SETTLED_WORDS[fate.settlement.answer]}” by ${who(fate.by.name)}`;
    case 'lapsed':
      return 'The question lapsed, and nothing was run';
    case 'withheld':
      return `Withheld, the mode was ${fate.mode}`;
    case 'cancelled':
      return fate.by === undefined
        ? 'Its turn was cancelled'
        : `Its turn was cancelled by ${who(fate.by.name)}`;
    case 'open':
      return 'It waits';
    case 'not-asked':
    case 'unknown-call':
      return 'Nobody is asked about it any more';
    default:
      return fate satisfies never;
  }
};

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const atOf = (fate: FateView): number | undefined => ('at' in fate ? fate.at : undefined);

export const FateNote = ({
  fate,
  me,
  triedAt,
}: {
  readonly fate: FateView;
  readonly me: string;
  /** When somebody pressed here, too late; milliseconds since 1970 UTC. */
  readonly triedAt: number | undefined;
}): ReactNode => {
  const at = atOf(fate);
  return (
    <p className="fate message done" role="status">
      <Icon name={fate.kind === 'decided' || fate.kind === 'settled' ? 'done' : 'info'} small />
      <span>
        <Revealed text={fateWords(fate, me)} />
        {at !== undefined && (
          <>
            , <Moment at={at} />
          </>
        )}
        {triedAt !== undefined && at !== undefined && triedAt > at
          ? `, ${formatDuration(triedAt - at)} before you. Your press changed nothing.`
          : '.'}
      </span>
    </p>
  );
};

/** One line in the list of what was just answered. */
export const FateLine = ({ fate, me }: { readonly fate: FateView; readonly me: string }): ReactNode => {
  const at = atOf(fate);
  return (
    <>
      <Revealed text={fateWords(fate, me)} />
      {at !== undefined && (
        <>
          , <Moment at={at} />
        </>
      )}
    </>
  );
};
