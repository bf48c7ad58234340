/** Which card is meant, in the address and in lists: `s_7Q2N8BXK 1.2.1`. */
import type { InboxCard } from '../../server/inbox-shapes.ts';

export const cardId = ({ session, call }: Pick<InboxCard, 'session' | 'call'>): string =>
  `${session} ${call}`;

/** Something that asks anew, or is in doubt anew, is another thing to answer under the same id. */
export const cardVersion = (card: InboxCard): string =>
  card.kind === 'question' ? card.digest : `doubt ${card.doubtedSeq}`;

export const callUrl = ({ session, call }: Pick<InboxCard, 'session' | 'call'>, rest: string): string =>
  `/sessions/${encodeURIComponent(session)}/calls/${encodeURIComponent(call)}${rest}`;
