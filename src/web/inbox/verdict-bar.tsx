/**
 * The buttons of a question. Approving takes two presses by keyboard: the letter brings the hand to the button, the
 * button decides. It is inert until what it is about was seen, and says why; the way out is never in the way.
 */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { ApprovalDecision, Grant } from '../../event/events.ts';
import { DoorError } from '../../client/client.ts';
import type { QuestionCard } from '../../server/inbox-shapes.ts';
import { actWords } from '../../view/card-words.ts';
import { door } from '../data/door.ts';
import { connection } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { HashChip } from '../parts/hash-chip.tsx';
import { ProblemLine } from '../parts/states.tsx';
import { announce } from '../shell/announcer.tsx';
import { useCommands } from '../shell/commands.ts';
import { AnswerField } from './answer-field.tsx';
import type { Draft } from './edit-form.tsx';
import { GrantField } from './grant-field.tsx';
import type { Readiness } from './readiness.ts';

type Props = {
  readonly card: QuestionCard;
  /** The edit that stands in the form, if one does. */
  readonly draft: Draft | undefined;
  readonly startEdit: () => void;
  readonly stopEdit: () => void;
  readonly readiness: Readiness;
  /** Another question stands by now. */
  readonly isStale: boolean;
  readonly answered: (what: string) => void;
  /** The answer came too late or was about something else. */
  readonly refused: () => Promise<void>;
};

type Open = 'reject' | 'respond' | 'grant';

/** Refusals that say: look at the question again. */
const LOOK_AGAIN: ReadonlySet<string> = new Set([
  'already-decided',
  'approval-expired',
  'turn-cancelled',
  'not-asked',
  'digest-mismatch',
  'call-not-found',
]);

export const VerdictBar = (props: Props): ReactNode => {
  const { card, draft, startEdit, stopEdit } = props;
  const [open, setOpen] = useState<Open>();
  const sending = useDecision(props);
  const bar = useRef<HTMLDivElement>(null);
  const approve = useRef<HTMLButtonElement>(null);
  const [isArmed, setArmed] = useState(false);
  const obstacle = useObstacle(props, sending.isSending);
  useWayBack(bar, open);
  const arm = (): void => {
    if (obstacle !== undefined) announce(obstacle);
    approve.current?.focus();
    setArmed(obstacle === undefined);
  };
  const openField = (which: Open): void => {
    if (!card.barriers.reject) setOpen(which);
  };
  const edit = draft ? stopEdit : startEdit;
  useCardKeys(bar, { a: arm, e: edit, x: () => openField('reject'), o: () => openField('respond') });
  if (open !== undefined)
    return (
      <div className="verdict open" ref={bar}>
        <OpenField
          card={card}
          open={open}
          obstacle={obstacle}
          sending={sending}
          close={() => setOpen(undefined)}
        />
        <ProblemLine problem={sending.problem} />
      </div>
    );
  return (
    <div className="verdict" ref={bar}>
      <ApproveButton
        button={approve}
        card={card}
        draft={draft}
        obstacle={obstacle}
        sending={sending}
        disarm={() => setArmed(false)}
      />
      <OtherButtons card={card} draft={draft} edit={edit} openField={openField} />
      <BoundTo card={card} draft={draft} isArmed={isArmed} />
      <ProblemLine problem={sending.problem} />
    </div>
  );
};

type ApproveProps = {
  readonly button: React.RefObject<HTMLButtonElement | null>;
  readonly card: QuestionCard;
  readonly draft: Draft | undefined;
  readonly obstacle: string | undefined;
  readonly sending: Sending;
  readonly disarm: () => void;
};

const ApproveButton = ({ button, card, draft, obstacle, sending, disarm }: ApproveProps): ReactNode => {
  const decision: ApprovalDecision =
    draft?.trial?.kind === 'valid' ? { do: 'edit', args: draft.trial.args } : { do: 'approve' };
  return (
    <button
      ref={button}
      className="button primary"
      type="button"
      aria-disabled={obstacle !== undefined}
      aria-describedby="bound-to"
      onKeyDown={onlyOnce}
      onBlur={disarm}
      onClick={() => {
        if (obstacle === undefined) sending.send(decision, draft ? 'Edited and approved.' : 'Approved.');
      }}
    >
      {obstacle ?? `${draft ? 'Approve my edit and' : 'Approve and'} ${actWords(card)}`}
      {obstacle === undefined && <kbd>a</kbd>}
    </button>
  );
};

type OtherProps = {
  readonly card: QuestionCard;
  readonly draft: Draft | undefined;
  readonly edit: () => void;
  readonly openField: (which: Open) => void;
};

const OtherButtons = ({ card: { barriers, exact }, draft, edit, openField }: OtherProps): ReactNode => {
  const isInert = barriers.reject !== null;
  return (
    <>
      <button className="button" type="button" onClick={edit}>
        {draft ? 'Undo my edit' : 'Edit'} <kbd>e</kbd>
      </button>
      <button
        className="button danger"
        type="button"
        data-opens="reject"
        aria-disabled={isInert}
        onClick={() => openField('reject')}
      >
        Reject… <kbd>x</kbd>
      </button>
      <button
        className="button quiet"
        type="button"
        data-opens="respond"
        aria-disabled={isInert}
        onClick={() => openField('respond')}
      >
        Answer instead… <kbd>o</kbd>
      </button>
      {exact && !draft && (
        <button className="button quiet" type="button" data-opens="grant" onClick={() => openField('grant')}>
          Approve and grant…
        </button>
      )}
    </>
  );
};

type FieldProps = {
  readonly card: QuestionCard;
  readonly open: Open;
  readonly obstacle: string | undefined;
  readonly sending: Sending;
  readonly close: () => void;
};

const OpenField = ({ card, open, obstacle, sending: { send, isSending }, close }: FieldProps): ReactNode => {
  if (open === 'grant')
    return (
      <GrantField
        card={card}
        exact={card.exact ?? []}
        obstacle={obstacle}
        give={(grant: Grant) => send({ do: 'approve', grant }, 'Approved, with a grant.')}
        close={close}
      />
    );
  const give = (text: string): void => {
    if (open === 'reject') send({ do: 'reject', ...(text !== '' && { reason: text }) }, 'Rejected.');
    else send({ do: 'respond', content: [{ type: 'text', text }] }, 'Answered.');
  };
  return <AnswerField kind={open} tool={card.tool} isSending={isSending} give={give} close={close} />;
};

const BoundTo = ({
  card: { digest },
  draft,
  isArmed,
}: {
  readonly card: QuestionCard;
  readonly draft: Draft | undefined;
  readonly isArmed: boolean;
}): ReactNode => (
  <span className="bound" id="bound-to">
    {isArmed && <b>Enter decides, Esc takes the hand off. </b>}
    {draft?.trial?.kind === 'valid' ? (
      <>
        arguments of this edit <HashChip value={draft.trial.digest} what="digest" />
      </>
    ) : (
      <>
        decides on <HashChip value={digest} what="digest" />
      </>
    )}
  </span>
);

/** A key that is held down does not press again and again. */
const onlyOnce = (event: KeyboardEvent): void => {
  if (event.repeat) event.preventDefault();
  if (event.key === 'Escape' && event.currentTarget instanceof HTMLElement) {
    event.preventDefault();
    document.getElementById('card-title')?.focus();
  }
};

type Sending = {
  readonly send: (decision: ApprovalDecision, said: string) => void;
  readonly isSending: boolean;
  readonly problem: unknown;
};

/** Sends decisions about exactly this digest, one at a time. */
const useDecision = ({ card, answered, refused }: Props): Sending => {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const { session, call, digest } = card;
  const send = (decision: ApprovalDecision, said: string): void => {
    if (isSending) return;
    setSending(true);
    setProblem(undefined);
    door
      .decide(session, call, { digest, decision })
      // Once it is on record nothing more can be sent: the card is about to go.
      .then(() => answered(said))
      .catch(async (error: unknown) => {
        setProblem(error);
        if (error instanceof DoorError && LOOK_AGAIN.has(error.code)) await refused().catch(() => undefined);
        setSending(false);
      });
  };
  return { send, isSending, problem };
};

/** Why nobody can approve just now, in the words of the button; undefined where nothing is in the way. */
const useObstacle = ({ card, draft, readiness, isStale }: Props, isSending: boolean): string | undefined => {
  const isOffline = useStore(connection).kind === 'offline';
  const { approve } = card.barriers;
  if (approve) return `Approve: ${BARRIERS[approve.code] ?? approve.message}`;
  if (isStale) return 'Approve: the question has changed';
  if (isOffline) return 'Approve: the server does not answer';
  if (isSending) return 'Recording your decision';
  if (!readiness.isRead) return 'Read to the end to approve';
  if (!readiness.isRested) return 'Approve: just a moment';
  return draft && draftObstacle(draft);
};

const BARRIERS: Readonly<Record<string, string>> = {
  'four-eyes': 'needs another person',
  'not-an-approver': 'somebody else has to decide',
  'approval-expired': 'its time is over',
  'role-missing': 'you may read, and not decide',
};

const draftObstacle = ({ trial }: Draft): string | undefined => {
  if (!trial) return 'Approve: being checked';
  if (trial.kind === 'same') return 'Approve: nothing is changed';
  if (trial.kind === 'invalid') {
    const count = Math.max(1, trial.problems.length);
    return `Approve: fix ${count === 1 ? '1 thing' : `${count} things`} first`;
  }
  return trial.follow.kind === 'rejected' ? 'Approve: it would not run' : undefined;
};

/** Whoever closes a field again is where it was opened: the focus must not fall out of the card. */
const useWayBack = (bar: React.RefObject<HTMLElement | null>, open: Open | undefined): void => {
  const before = useRef(open);
  useEffect(() => {
    const closed = before.current;
    before.current = open;
    if (closed !== undefined && open === undefined)
      bar.current?.querySelector<HTMLElement>(`[data-opens="${closed}"]`)?.focus();
  }, [bar, open]);
};

type CardKeys = Readonly<Record<'a' | 'e' | 'x' | 'o', () => void>>;

const LABELS = {
  a: 'Approve this call: brings you to the button',
  e: 'Edit the arguments of this call, or undo the edit',
  x: 'Reject this call…',
  o: 'Answer instead of running this call…',
} as const;

/** Letters act only while the focus is inside the card; from the palette they act on the card that is shown. */
const useCardKeys = (bar: React.RefObject<HTMLElement | null>, keys: CardKeys): void => {
  const isInside = (): boolean => {
    const card = bar.current?.closest('article');
    return card?.contains(document.activeElement) === true;
  };
  useCommands(
    (['a', 'e', 'x', 'o'] as const).flatMap((key) => [
      {
        label: LABELS[key],
        keys: key,
        quiet: true,
        run: () => {
          if (isInside()) keys[key]();
          else announce('The focus is not in the card. Enter in the list brings it there.');
        },
      },
      { label: LABELS[key], run: keys[key] },
    ]),
  );
};
