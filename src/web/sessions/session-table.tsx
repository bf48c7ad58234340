/** Sessions in rows. On a phone each row is a card of two lines. */
import { useState, type ReactNode } from 'react';
import type { SessionView } from '../../server/schemas.ts';
import { countOf, formatCount } from '../../view/format.ts';
import { go } from '../data/address.ts';
import { Cost } from '../parts/cost.tsx';
import { Link } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { StatusPill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';
import { useCommands } from '../shell/commands.ts';

export const sessionPath = (session: string): string => `/s/${encodeURIComponent(session)}`;

export const SessionTable = ({ rows }: { readonly rows: readonly SessionView[] }): ReactNode => {
  const [chosen, setChosen] = useState<string>();
  const at = rows.findIndex(({ session }) => session === chosen);
  const choose = (step: number): void => {
    const row = rows[Math.min(Math.max(0, at + step), rows.length - 1)];
    if (!row) return;
    setChosen(row.session);
    document.getElementById(`row-${row.session}`)?.focus();
  };
  useCommands([
    { label: 'Next session', keys: 'j', run: () => choose(1), quiet: true },
    { label: 'Session before', keys: 'k', run: () => choose(-1), quiet: true },
  ]);
  return (
    <div className="sheet">
      <table className="sessions stacked">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Session</th>
            <th scope="col">Waits for</th>
            <th scope="col" className="number">
              Events
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number" aria-sort="descending">
              Last event
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.session} row={row} isChosen={row.session === chosen} choose={setChosen} />
          ))}
        </tbody>
      </table>
    </div>
  );
};

type RowProps = {
  readonly row: SessionView;
  readonly isChosen: boolean;
  readonly choose: (session: string) => void;
};

const Row = ({ row, isChosen, choose }: RowProps): ReactNode => {
  const { session, title, agent, status, head, cost, updatedAt } = row;
  const waits = waitsFor(row);
  return (
    <tr
      className={isChosen ? 'chosen' : undefined}
      onClick={(event) => {
        if (event.target instanceof Element && !event.target.closest('a, button')) go(sessionPath(session));
      }}
    >
      <td className="status">
        <StatusPill status={status} inList />
      </td>
      <td className="title">
        <Link id={`row-${session}`} to={sessionPath(session)} onFocus={() => choose(session)}>
          <Revealed text={title} />
        </Link>
        <span className="caption">
          {agent} · <span className="mono">{session}</span>
        </span>
      </td>
      <td className={waits === '' ? 'waits none' : 'waits'}>{waits}</td>
      <td className="number events">{formatCount(head)}</td>
      <td className="number cost">
        <Cost usd={cost} />
      </td>
      <td className="number when">
        <Moment at={updatedAt} ago />
      </td>
    </tr>
  );
};

const waitsFor = ({ waiting, inDoubt }: SessionView): string =>
  [
    ...(waiting > 0 ? [countOf(waiting, 'decision')] : []),
    ...(inDoubt > 0 ? [`${formatCount(inDoubt)} in doubt`] : []),
  ].join(', ');
