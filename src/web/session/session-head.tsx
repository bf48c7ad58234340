/** What stands above a session: what it is, what it costs, and what can be done with the whole of it. */
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { StandingView } from '../../server/window-shapes.ts';
import { formatShare } from '../../view/format.ts';
import { go } from '../data/address.ts';
import { door, whoAmI } from '../data/door.ts';
import { useNow } from '../data/now.ts';
import { useQuery } from '../data/query.ts';
import { Cost } from '../parts/cost.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { GrantLine } from '../parts/grant-line.tsx';
import { HashChip, copy } from '../parts/hash-chip.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemLine } from '../parts/states.tsx';
import { StatusPill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';
import { sessionPath } from '../sessions/session-table.tsx';
import { useCommands } from '../shell/commands.ts';
import { Proofs } from './proofs.tsx';

type Props = { readonly session: string; readonly standing: StandingView; readonly isPast: boolean };

export const SessionHead = ({ session, standing, isPast }: Props): ReactNode => {
  const { session: view, usage, parent, mode } = standing;
  const share = usage && cacheShare(usage);
  return (
    <div className="session-head">
      <div className="about">
        <h1>
          <Revealed text={view.title === '' ? session : view.title} />
        </h1>
        <StatusPill status={view.status} />
        <div className="meta">
          <span>{view.agent}</span>
          <HashChip value={session} what="session" whole />
          <span className="wide">
            opened{' '}
            <b>
              <Moment at={view.createdAt} />
            </b>
          </span>
          <span>
            cost{' '}
            <b>
              <Cost usd={view.cost} />
            </b>
          </span>
          {share !== null && (
            <span>
              from cache <b>{formatShare(share)}</b>
            </span>
          )}
          {mode !== 'normal' && (
            <span>
              mode <b>{mode}</b>
            </span>
          )}
          {!isPast && <Grants session={session} standing={standing} />}
          {parent && (
            <span>
              forked from{' '}
              <Link to={`${sessionPath(parent.session)}?sel=${parent.seq}`}>{parent.session}</Link> at{' '}
              {parent.seq}
            </span>
          )}
        </div>
      </div>
      <Actions session={session} standing={standing} isPast={isPast} />
    </div>
  );
};

/** Calls that nobody is asked about, because somebody said so: seen by whoever looks, and taken back from here. */
const Grants = ({ session, standing: { grants } }: Omit<Props, 'isPast'>): ReactNode => {
  const [asked, setAsked] = useState(false);
  const now = useNow();
  const me = useQuery('/me', whoAmI).data?.name ?? '';
  const standing = grants.filter(({ expiresAt }) => expiresAt > now);
  if (standing.length === 0 && !asked) return null;
  return (
    <>
      <button className="fact" type="button" onClick={() => setAsked(true)}>
        grants <b>{standing.length}</b>
      </button>
      {asked && (
        <Dialog title="Grants that stand" close={() => setAsked(false)}>
          <div className="inside">
            <p className="support">
              Such calls run here without a question. Once a grant is taken back nothing starts by it any
              more; what it had let pass is asked about, and what runs already ends.
            </p>
            {standing.length === 0 && <p>None stands any more.</p>}
            <ul className="grants">
              {standing.map((grant) => (
                <li key={`${grant.call} ${grant.expiresAt}`}>
                  <GrantLine session={session} grant={grant} me={me} named />
                </li>
              ))}
            </ul>
            <p className="ends">
              <button className="button" type="button" onClick={() => setAsked(false)}>
                Close
              </button>
            </p>
          </div>
        </Dialog>
      )}
    </>
  );
};

const cacheShare = ({ cacheRead, cacheWrite, input }: NonNullable<StandingView['usage']>): number | null => {
  const all = cacheRead + cacheWrite + input;
  return all === 0 ? null : cacheRead / all;
};

type Asked = 'fork' | 'cancel' | 'proofs';

const Actions = ({ session, standing, isPast }: Props): ReactNode => {
  const [asked, setAsked] = useState<Asked>();
  const close = (): void => setAsked(undefined);
  const turn = standing.turn?.isActive === true && !isPast ? standing.turn.turn : undefined;
  useCommands([
    { label: `Fork at event ${standing.at}`, keys: 'f', run: () => setAsked('fork') },
    { label: 'Replay and verify', keys: 'v', run: () => setAsked('proofs') },
    { label: 'Copy the link to what is selected', keys: 'c', run: () => copy(location.href, 'link') },
    ...(turn === undefined ? [] : [{ label: `Cancel turn ${turn}…`, run: () => setAsked('cancel') }]),
  ]);
  return (
    <div className="acts">
      <button className="button optional" type="button" onClick={() => setAsked('proofs')}>
        Prove…
      </button>
      <button
        className={turn === undefined ? 'button' : 'button optional'}
        type="button"
        onClick={() => setAsked('fork')}
      >
        <Icon name="fork" />
        Fork here
      </button>
      {turn !== undefined && (
        <button className="button danger" type="button" onClick={() => setAsked('cancel')}>
          Cancel turn {turn}…
        </button>
      )}
      {asked === 'fork' && <ForkDialog session={session} at={standing.at} close={close} />}
      {asked === 'cancel' && turn !== undefined && (
        <CancelDialog session={session} turn={turn} close={close} />
      )}
      {asked === 'proofs' && <Proofs session={session} close={close} />}
    </div>
  );
};

const ForkDialog = ({
  session,
  at,
  close,
}: {
  readonly session: string;
  readonly at: number;
  readonly close: () => void;
}): ReactNode => {
  const [title, setTitle] = useState('');
  const [problem, setProblem] = useState<unknown>();
  const key = useRef(crypto.randomUUID());
  const fork = (event: FormEvent): void => {
    event.preventDefault();
    const named = title.trim() === '' ? {} : { title: title.trim() };
    door.fork(session, { at, closeOpen: true, ...named }, { key: key.current }).then((made) => {
      close();
      go(sessionPath(made.session));
    }, setProblem);
  };
  return (
    <Dialog title={`Fork at event ${at}`} close={close}>
      <form onSubmit={fork}>
        <p className="support">
          A new session on the past of this one up to event {at}. This one goes on as it is. What is open
          there is closed in the fork; nothing of it runs.
        </p>
        <label className="field">
          <span>Title; empty: as here</span>
          <input type="text" value={title} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <ProblemLine problem={problem} />
        <p className="ends">
          <button className="button primary" type="submit">
            Fork at {at}
          </button>
          <button className="button quiet" type="button" onClick={close}>
            Close
          </button>
        </p>
      </form>
    </Dialog>
  );
};

const CancelDialog = ({
  session,
  turn,
  close,
}: {
  readonly session: string;
  readonly turn: number;
  readonly close: () => void;
}): ReactNode => {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<unknown>();
  const cancel = (event: FormEvent): void => {
    event.preventDefault();
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    door.cancel(session, { turn, ...why }).then(close, setProblem);
  };
  return (
    <Dialog title={`Cancel turn ${turn}`} close={close}>
      <form onSubmit={cancel}>
        <p className="support">
          Nothing starts after this. What has landed stays; what was started and has no result is in doubt.
        </p>
        <label className="field">
          <span>Reason, for the record</span>
          <input type="text" value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <ProblemLine problem={problem} />
        <p className="ends">
          <button className="button danger" type="submit">
            Cancel turn {turn}
          </button>
          <button className="button quiet" type="button" onClick={close}>
            Let it run
          </button>
        </p>
      </form>
    </Dialog>
  );
};
