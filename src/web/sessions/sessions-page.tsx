/** All sessions: what state each is in, whom it waits for, what it cost. Live, and still under the pointer. */
import { useDeferredValue, useEffect, useRef, useState, type ReactNode } from 'react';
import type { SessionStatus } from '../../event/summary.ts';
import type { Overview } from '../../server/reports.ts';
import { countOf, formatCount } from '../../view/format.ts';
import '../style/sessions.css';
import { setQuery, useAddress } from '../data/address.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { STATUS_LOOKS } from '../parts/status-pill.tsx';
import { useCommands } from '../shell/commands.ts';
import { useOverview } from '../shell/shell.tsx';
import { NewSession } from './new-session.tsx';
import { useSessionList, type SessionFilter, type SessionList } from './session-list.ts';
import { SessionTable } from './session-table.tsx';

const SessionsPage = (): ReactNode => {
  const { query } = useAddress();
  const overview = useOverview();
  const [isNew, setNew] = useState(false);
  const q = useDeferredValue(query.get('q') ?? '');
  const filter = { q, status: query.get('status') ?? '', agent: query.get('agent') ?? '' };
  const list = useSessionList(filter);
  const search = useRef<HTMLInputElement>(null);
  const asked = query.get('q') ?? '';
  const [text, setText] = useState(asked);
  // The address was changed by something else than the hand in the field.
  useEffect(() => {
    if (document.activeElement !== search.current) setText(asked);
  }, [asked]);
  useCommands([
    { label: 'Search sessions', keys: '/', run: () => search.current?.focus() },
    { label: 'New session', keys: 'n', run: () => setNew(true) },
    { label: 'Take the new order of the list', keys: 'r', run: list.apply },
  ]);
  return (
    <main id="main" className="page">
      <div className="page-head">
        <div>
          <h1>Sessions</h1>
          <p>{overview ? overviewWords(overview) : ' '}</p>
        </div>
        <button className="button primary push" type="button" onClick={() => setNew(true)}>
          New session <kbd>n</kbd>
        </button>
      </div>
      <div className="filters" role="group" aria-label="Filter sessions">
        <input
          ref={search}
          type="search"
          aria-label="Search titles, agents and ids"
          placeholder="Search titles, agents, ids"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setQuery({ q: event.target.value.trim() });
          }}
        />
        <StatusChips overview={overview} status={filter.status} />
        <AgentChoice overview={overview} agent={filter.agent} />
      </div>
      <Listed list={list} filter={filter} total={overview?.sessions} />
      {isNew && <NewSession close={() => setNew(false)} agents={Object.keys(overview?.agents ?? {})} />}
    </main>
  );
};

export default SessionsPage;

const overviewWords = ({ sessions, complete, waiting, inDoubt }: Overview): string => {
  const waits = waiting + inDoubt;
  const all = `${complete ? '' : 'More than '}${countOf(sessions, 'session')} in this store.`;
  if (waits === 0) return `${all} Nothing waits for a person.`;
  return `${all} ${waits === 1 ? '1 piece of work waits' : `${formatCount(waits)} pieces of work wait`} for a person.`;
};

/** Those that a person can act on; the rest is found under "all". */
const OFFERED: readonly SessionStatus[] = ['waiting', 'in-doubt', 'running', 'failed'];

const StatusChips = ({
  overview,
  status,
}: {
  readonly overview: Overview | undefined;
  readonly status: string;
}): ReactNode => (
  <>
    <button
      className="chip"
      type="button"
      aria-pressed={status === ''}
      onClick={() => setQuery({ status: '' })}
    >
      All <b>{overview && formatCount(overview.sessions)}</b>
    </button>
    {OFFERED.map((one) => {
      const { kind, icon, word } = STATUS_LOOKS[one];
      const short = one === 'waiting' ? 'waiting' : word;
      return (
        <button
          key={one}
          className={`chip ${kind}`}
          type="button"
          aria-pressed={status === one}
          onClick={() => setQuery({ status: status === one ? '' : one })}
        >
          <Icon name={icon} small />
          {short.charAt(0).toUpperCase() + short.slice(1)}{' '}
          <b>{overview && formatCount(overview.statuses[one] ?? 0)}</b>
        </button>
      );
    })}
  </>
);

const AgentChoice = ({
  overview,
  agent,
}: {
  readonly overview: Overview | undefined;
  readonly agent: string;
}): ReactNode => (
  <label>
    <span className="unseen">Agent</span>
    <select value={agent} onChange={(event) => setQuery({ agent: event.target.value })}>
      <option value="">Agent: any</option>
      {[...new Set([...Object.keys(overview?.agents ?? {}), ...(agent === '' ? [] : [agent])])]
        .sort()
        .map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
    </select>
  </label>
);

const Listed = ({
  list,
  filter,
  total,
}: {
  readonly list: SessionList;
  readonly filter: SessionFilter;
  readonly total: number | undefined;
}): ReactNode => {
  const { rows, isComplete, problem, moved, apply, more } = list;
  if (problem !== undefined && rows.length === 0) return <ProblemNote problem={problem} again={apply} />;
  if (isComplete === undefined && rows.length === 0) return <Loading what="sessions" />;
  if (rows.length === 0) return <NothingFound filter={filter} moved={moved} apply={apply} />;
  return (
    <>
      <SessionTable rows={rows} />
      <p className="caption list-foot">
        {formatCount(rows.length)} of {total === undefined ? 'all' : formatCount(total)} shown.{' '}
        {moved > 0 ? (
          <button className="button small" type="button" onClick={apply}>
            {countOf(moved, 'session has', 'sessions have')} moved up <kbd>r</kbd>
          </button>
        ) : (
          'Rows change in place; the order changes only when you ask for it.'
        )}
      </p>
      {isComplete === false && <More more={more} />}
    </>
  );
};

const NothingFound = ({
  filter,
  moved,
  apply,
}: {
  readonly filter: SessionFilter;
  readonly moved: number;
  readonly apply: () => void;
}): ReactNode => {
  const words = Object.entries(filter).filter(([, value]) => value !== '');
  if (words.length === 0 && moved === 0)
    return (
      <Empty title="No sessions yet">
        <p>Start one here, or in a terminal:</p>
        <p>
          <code>onrecord run inbox-assistant "Anything urgent?"</code>
        </p>
      </Empty>
    );
  return (
    <Empty title="No session fits">
      <p>
        Asked for: {words.map(([name, value]) => `${name === 'q' ? 'words' : name} ${value}`).join(', ')}.
      </p>
      <p>
        <button
          className="button"
          type="button"
          onClick={() => (moved > 0 ? apply() : setQuery({ q: '', status: '', agent: '' }))}
        >
          {moved > 0 ? 'Show what has come since' : 'Clear the filters'}
        </button>
      </p>
    </Empty>
  );
};

/** Asks for the next page when it comes near the screen; a button for those who do not scroll. */
const More = ({ more }: { readonly more: () => void }): ReactNode => {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(more);
  useEffect(() => {
    latest.current = more;
  });
  useEffect(() => {
    if (!button.current) return undefined;
    const near = new IntersectionObserver(
      (seen) => seen.some((one) => one.isIntersecting) && latest.current(),
      {
        rootMargin: '400px',
      },
    );
    near.observe(button.current);
    return () => near.disconnect();
  }, []);
  return (
    <button ref={button} className="button" type="button" onClick={more}>
      Show more
    </button>
  );
};
