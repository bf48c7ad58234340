/** What was paid, for what, what of it was reused, and how long answers took. Unknown money is said, never a zero. */
import type { ReactNode } from 'react';
import type { ReuseView, SpendView } from '../../server/spend-shapes.ts';
import { countOf, formatCost, formatCount, formatDuration, formatShare } from '../../view/format.ts';
import '../style/spend.css';
import { setQuery, useAddress } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Link } from '../parts/link.tsx';
import { useZone } from '../parts/moment.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { CLASSES, DayChart, LatencyRange, SplitBar, type Group } from './charts.tsx';
import { Breaks, SessionsReuse } from './reuse-table.tsx';

const DAYS: readonly number[] = [7, 14, 30, 90];
const BY = ['agent', 'model', 'session'] as const;
type By = (typeof BY)[number];

const SpendPage = (): ReactNode => {
  const { query } = useAddress();
  const zone = useZone();
  const asked = Number(query.get('days'));
  const days = DAYS.includes(asked) ? asked : 14;
  const path = `/spend?days=${days}&zone=${encodeURIComponent(zone)}`;
  const { data, problem, again } = useQuery<SpendView>(path, (signal) => door.read(path, signal), {
    keepLast: true,
  });
  return (
    <main id="main" className="page spend">
      <div className="page-head">
        <div>
          <h1>Spend</h1>
          <p>
            The last {days} days, as days of {zone}.
          </p>
        </div>
        <div className="chips push" role="group" aria-label="How many days">
          {DAYS.map((count) => (
            <button
              key={count}
              className="chip"
              type="button"
              aria-pressed={count === days}
              onClick={() => setQuery({ days: count === 14 ? undefined : count })}
            >
              {count} days
            </button>
          ))}
        </div>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} again={again} />}
      {data ? (
        <Bill view={data} days={days} by={byOf(query.get('by'))} />
      ) : (
        problem === undefined && <Loading what="the bill" />
      )}
    </main>
  );
};

export default SpendPage;

const byOf = (text: string | null): By => BY.find((one) => one === text) ?? 'agent';

const Bill = ({
  view,
  days,
  by,
}: {
  readonly view: SpendView;
  readonly days: number;
  readonly by: By;
}): ReactNode => {
  if (view.total.attempts === 0)
    return (
      <Empty title="Nothing was asked of a model in these days">
        <p>What requests cost appears here as they are answered.</p>
      </Empty>
    );
  return (
    <>
      <Figures view={view} />
      <h2 className="section">Cost by day and class of tokens</h2>
      <div className="two">
        <figure className="sheet">
          <DayChart days={view.days} />
          <figcaption className="chart-keys">
            {CLASSES.filter(({ key }) => key !== 'unsplit' || view.total.split.unsplit > 0).map(
              ({ key, word, className }) => (
                <span key={key} className="nowrap">
                  <span className={`token-key ${className}`} /> {word}
                </span>
              ),
            )}
          </figcaption>
          {view.total.split.unsplit > 0 && (
            <p className="caption">
              Not told apart: what was recorded as one amount, and no price list says by which classes.
            </p>
          )}
          <DayTable days={view.days} />
        </figure>
        <Groups view={view} by={by} />
      </div>
      <Reuse days={days} />
      <Models models={view.models} />
      {view.unread > 0 && (
        <p className="plain-note">
          {countOf(view.unread, 'session')} cannot be read; what {view.unread === 1 ? 'it' : 'they'} cost is
          in none of these sums.
        </p>
      )}
    </>
  );
};

const Figures = ({ view: { total, wasted } }: { readonly view: SpendView }): ReactNode => {
  const { usage, firstToken, unknown, maybeBilled } = total;
  const into = usage.cacheRead + usage.cacheWrite + usage.input;
  const missing = [
    ...(unknown > 0 ? [`${countOf(unknown, 'answer')} without a known price`] : []),
    ...(maybeBilled > 0 ? [`${countOf(maybeBilled, 'request')} without an answer that may be billed`] : []),
  ];
  return (
    <dl className="figures sheet">
      <div>
        <dt>Cost</dt>
        <dd className="figure">{formatCost(total.cost)}</dd>
        <dd className="caption">
          {missing.length === 0
            ? `${countOf(total.attempts, 'request')}, all of them priced`
            : `and ${missing.join(', ')}`}
        </dd>
      </div>
      <div>
        <dt>Read from the cache</dt>
        <dd className="figure">
          {into === 0 ? <span className="dim">unknown</span> : formatShare(usage.cacheRead / into, 1)}
        </dd>
        <dd className="caption">
          of {formatCount(into)} tokens that went in; {formatCount(usage.output)} came out
        </dd>
      </div>
      <div>
        <dt>Time to first token, median</dt>
        <dd className="figure">
          {firstToken ? formatDuration(firstToken.median) : <span className="dim">unknown</span>}
        </dd>
        <dd className="caption">
          {firstToken
            ? `p90 ${formatDuration(firstToken.p90)}, p99 ${formatDuration(firstToken.p99)}, of ${countOf(firstToken.count, 'answer')}`
            : 'no answer said when its first token came'}
        </dd>
      </div>
      <div>
        <dt>Paid for nothing</dt>
        <dd className="figure">{formatCost(wasted.cost)}</dd>
        <dd className="caption">
          {countOf(wasted.attempts, 'failed or lost request')}, as far as known, in the cost above
        </dd>
      </div>
    </dl>
  );
};

const DayTable = ({ days }: { readonly days: readonly Group[] }): ReactNode => (
  <details className="as-table">
    <summary>The same as a table</summary>
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" className="number">
            Requests
          </th>
          <th scope="col" className="number">
            Tokens in
          </th>
          <th scope="col" className="number">
            Out
          </th>
          <th scope="col" className="number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {days.map(({ name, attempts, usage, cost, unknown, maybeBilled }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{formatCount(attempts)}</td>
            <td className="number">{formatCount(usage.cacheRead + usage.cacheWrite + usage.input)}</td>
            <td className="number">{formatCount(usage.output)}</td>
            <td className="number">
              {formatCost(cost)}
              {unknown + maybeBilled > 0 && <span className="dim"> known</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);

const Groups = ({ view, by }: { readonly view: SpendView; readonly by: By }): ReactNode => {
  const groups = { agent: view.agents, model: view.models, session: view.sessions }[by];
  const most = Math.max(...groups.map(({ cost }) => cost), 0);
  return (
    <section className="sheet groups" aria-label={`Cost by ${by}`}>
      <div className="chips" role="group" aria-label="Cost by">
        {BY.map((one) => (
          <button
            key={one}
            className="chip"
            type="button"
            aria-pressed={one === by}
            onClick={() => setQuery({ by: one === 'agent' ? undefined : one })}
          >
            By {one}
          </button>
        ))}
      </div>
      <ul>
        {groups.map((group) => (
          <li key={group.name}>
            <span className="name">
              {by === 'session' ? (
                <Link to={`/s/${encodeURIComponent(group.name)}`}>
                  <Revealed text={view.titles[group.name]?.title ?? group.name} />
                </Link>
              ) : (
                <Revealed text={group.name} />
              )}
            </span>
            <b className="number">
              {formatCost(group.cost)}
              {group.unknown + group.maybeBilled > 0 && <span className="dim"> known</span>}
            </b>
            <SplitBar group={group} most={most} />
          </li>
        ))}
      </ul>
      {by === 'session' && groups.length === 10 && <p className="caption">The ten dearest.</p>}
    </section>
  );
};

const Reuse = ({ days }: { readonly days: number }): ReactNode => {
  const path = `/reuse?days=${days}`;
  const { data, problem, again } = useQuery<ReuseView>(path, (signal) => door.read(path, signal), {
    keepLast: true,
  });
  return (
    <>
      <h2 className="section">
        Where a prefix broke{' '}
        <span className="caption">requests that shared less with the one before than they could have</span>
      </h2>
      {problem !== undefined && <ProblemNote problem={problem} again={again} />}
      {!data && problem === undefined && <Loading what="what caches were reused for" />}
      {data && (
        <>
          <Breaks reuse={data} />
          <h2 className="section">Cache reuse by session</h2>
          <SessionsReuse reuse={data} />
        </>
      )}
    </>
  );
};

const Models = ({ models }: { readonly models: readonly Group[] }): ReactNode => {
  const mostMs = Math.max(...models.map(({ firstToken }) => firstToken?.p99 ?? 0), 0);
  return (
    <>
      <h2 className="section">
        Models <span className="caption">dot: median; thick to p90, thin to p99; all on one scale</span>
      </h2>
      <div className="sheet">
        <table className="stacked models">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">First token</th>
              <th scope="col" className="number">
                Median
              </th>
              <th scope="col" className="number">
                Whole answer, median
              </th>
              <th scope="col" className="number">
                Requests
              </th>
              <th scope="col" className="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {models.map(({ name, firstToken, answer, attempts, cost, unknown, maybeBilled }) => (
              <tr key={name}>
                <td className="what">
                  <Revealed text={name} />
                </td>
                <td>
                  {firstToken ? (
                    <LatencyRange of={firstToken} mostMs={mostMs} />
                  ) : (
                    <span className="dim">unknown</span>
                  )}
                </td>
                <td className="number" data-label="first token">
                  {formatDuration(firstToken?.median)}
                </td>
                <td className="number" data-label="answer">
                  {formatDuration(answer?.median)}
                </td>
                <td className="number" data-label="requests">
                  {formatCount(attempts)}
                </td>
                <td className="number" data-label="cost">
                  {formatCost(cost)}
                  {unknown + maybeBilled > 0 && <span className="dim"> known</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
};
