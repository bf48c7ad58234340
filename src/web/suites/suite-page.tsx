/** One report: verdicts by scenario and model, and where two models first did otherwise, side by side. */
import type { ReactNode } from 'react';
import type {
  SideView,
  SuiteDifference,
  SuiteRow,
  SuiteRunView,
  SuitesView,
  SuiteView,
} from '../../server/suite-shapes.ts';
import { countOf, formatCost, formatCount, formatDuration } from '../../view/format.ts';
import '../style/suites.css';
import { addressWith, setQuery, useAddress } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Link } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';
import type { PageProps } from '../pages.ts';
import { Tally } from './suites-page.tsx';

type Filter = 'all' | 'bad' | 'other';

const SuitePage = ({ id }: PageProps): ReactNode => {
  const { query } = useAddress();
  const scenario = query.get('scenario') ?? undefined;
  const path = `/suites?run=${encodeURIComponent(id)}${scenario === undefined ? '' : `&scenario=${encodeURIComponent(scenario)}`}`;
  const { data, problem, again } = useQuery<SuitesView>(path, (signal) => door.read(path, signal), {
    keepLast: true,
  });
  const row = data?.items[0];
  return (
    <main id="main" className="page suites">
      <div className="page-head">
        <div>
          <h1>{id}</h1>
          <p>{row && <About row={row} report={data.report} />}</p>
        </div>
        <Link className="button push" to="/suites">
          All reports
        </Link>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} again={again} />}
      {!data && problem === undefined && <Loading what="the report" />}
      {row?.problem !== undefined && row.problem !== null && (
        <Empty title="This file holds no report">
          <p>
            <Revealed text={row.problem} />
          </p>
        </Empty>
      )}
      {data?.report && row && (
        <Report
          report={data.report}
          row={row}
          sides={data.sides}
          scenario={scenario}
          filter={filterOf(query.get('show'))}
        />
      )}
    </main>
  );
};

export default SuitePage;

const filterOf = (text: string | null): Filter => (text === 'bad' || text === 'other' ? text : 'all');

const About = ({ row, report }: { readonly row: SuiteRow; readonly report: SuiteView | null }): ReactNode => (
  <>
    {countOf(row.scenarios, 'scenario')}, {countOf(row.models.length, 'model')}
    {report && `, ${formatDuration(report.ms)}`}
    {report?.seed !== null && report && `, seed ${report.seed}`}. Written <Moment at={row.at} />.
  </>
);

type ReportProps = {
  readonly report: SuiteView;
  readonly row: SuiteRow;
  readonly sides: readonly SideView[] | null;
  readonly scenario: string | undefined;
  readonly filter: Filter;
};

const Report = ({ report, row, sides, scenario, filter }: ReportProps): ReactNode => {
  const { runs, differences } = report;
  const names = [...new Set(runs.map((run) => run.scenario))];
  const isBad = (name: string): boolean =>
    runs.some((run) => run.scenario === name && run.verdict !== 'passed');
  const isOther = (name: string): boolean => differences.some((one) => one.scenario === name);
  const shown = names.filter((name) => filter === 'all' || (filter === 'bad' ? isBad(name) : isOther(name)));
  const chips = [
    { key: 'all', word: 'All', count: names.length },
    { key: 'bad', word: 'Not passed', count: names.filter(isBad).length },
    { key: 'other', word: 'Diverged', count: names.filter(isOther).length },
  ] as const;
  return (
    <>
      <div className="tally sheet">
        {row.models.map((model) => (
          <ModelTally key={model} model={model} runs={runs.filter((run) => run.model === model)} />
        ))}
      </div>
      <div className="chips" role="group" aria-label="Which scenarios">
        {chips.map(({ key, word, count }) => (
          <button
            key={key}
            className="chip"
            type="button"
            aria-pressed={filter === key}
            onClick={() => setQuery({ show: key === 'all' ? undefined : key })}
          >
            {word} <b>{formatCount(count)}</b>
          </button>
        ))}
      </div>
      <Scenarios names={shown} models={row.models} report={report} chosen={scenario} />
      {scenario !== undefined && sides && <Divergence scenario={scenario} sides={sides} report={report} />}
    </>
  );
};

const ModelTally = ({
  model,
  runs,
}: {
  readonly model: string;
  readonly runs: readonly SuiteRunView[];
}): ReactNode => {
  const count = (verdict: SuiteRunView['verdict']): number =>
    runs.filter((run) => run.verdict === verdict).length;
  const known = runs.every(({ cost }) => cost !== null);
  return (
    <div>
      <p className="caption">
        <Revealed text={model} />
      </p>
      <Tally
        row={{ passed: count('passed'), failed: count('failed'), errored: count('errored'), complete: true }}
      />
      <p className="caption">
        {formatCost(runs.reduce((sum, { cost }) => sum + (cost ?? 0), 0))}
        {!known && ' known'},{' '}
        {countOf(
          runs.reduce((sum, { steps }) => sum + steps, 0),
          'step',
        )}
      </p>
    </div>
  );
};

type ScenariosProps = {
  readonly names: readonly string[];
  readonly models: readonly string[];
  readonly report: SuiteView;
  readonly chosen: string | undefined;
};

const Scenarios = ({ names, models, report: { runs, differences }, chosen }: ScenariosProps): ReactNode => (
  <div className="sheet">
    <table className="stacked">
      <thead>
        <tr>
          <th scope="col">Scenario</th>
          {models.map((model) => (
            <th scope="col" key={model}>
              <Revealed text={model} />
            </th>
          ))}
          <th scope="col">First divergence</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => {
          const here = runs.filter((run) => run.scenario === name);
          return (
            <tr key={name} className={name === chosen ? 'chosen' : undefined}>
              <td className="what">
                <Link
                  to={addressWith({ scenario: name })}
                  replace
                  aria-current={name === chosen ? 'true' : undefined}
                >
                  <Revealed text={name} />
                </Link>
                {here.flatMap(({ model, repeat, problems }) =>
                  problems.map(({ expectation, message }) => (
                    <span className="caption under" key={`${model} ${repeat} ${expectation} ${message}`}>
                      <Revealed text={`${expectation}: ${message}`} />
                    </span>
                  )),
                )}
              </td>
              {models.map((model) => (
                <td key={model} data-label={model}>
                  <Verdicts runs={here.filter((run) => run.model === model)} />
                </td>
              ))}
              <td>
                <First of={differences.filter((one) => one.scenario === name)} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
    {names.length === 0 && <p className="plain-note">No scenario is like that. Choose All above.</p>}
  </div>
);

const LOOKS = {
  passed: { kind: 'done', icon: 'done' },
  failed: { kind: 'fail', icon: 'fail' },
  errored: { kind: 'wait', icon: 'warn' },
} as const;

const Verdicts = ({ runs }: { readonly runs: readonly SuiteRunView[] }): ReactNode => (
  <span className="pills">
    {runs.map(({ repeat, verdict }) => (
      <Pill key={repeat} {...LOOKS[verdict]} word={verdict} bare={verdict === 'passed'} />
    ))}
  </span>
);

const First = ({ of }: { readonly of: readonly SuiteDifference[] }): ReactNode => {
  const [first] = of;
  if (!first) return <span className="dim">none</span>;
  const seq = first.seqs[1] ?? first.seqs[0];
  return (
    <>
      {seq !== null && `event ${seq}: `}
      <Revealed text={first.what ?? first.path} />
      <span className="caption under">
        <Revealed text={first.cause} />
      </span>
    </>
  );
};

type DivergenceProps = {
  readonly scenario: string;
  readonly sides: readonly SideView[];
  readonly report: SuiteView;
};

const Divergence = ({ scenario, sides, report }: DivergenceProps): ReactNode => {
  const [first] = report.differences.filter((one) => one.scenario === scenario);
  return (
    <section aria-label={`What was done in ${scenario}`}>
      <h2 className="section">
        <Revealed text={scenario} />
        <span className="caption">
          {first
            ? `after ${countOf(first.same, 'deed')} in common; the first that differs is marked`
            : sides.length > 1
              ? 'no divergence'
              : 'one model'}
        </span>
      </h2>
      {first && (
        <p className="likely">
          <b>Likely cause.</b> <Revealed text={first.cause} />.{' '}
          {first.definitions.map((text) => (
            <Revealed key={text} text={`${text}. `} />
          ))}
        </p>
      )}
      <div className="sides">
        {sides.map((side) => (
          <Side key={side.model} side={side} here={hereOf(first, side)} />
        ))}
      </div>
    </section>
  );
};

/** The event of this side that differs first. */
const hereOf = (first: SuiteDifference | undefined, { model }: SideView): number | null => {
  const at = first?.models.indexOf(model) ?? -1;
  return at < 0 ? null : (first?.seqs[at] ?? null);
};

const Side = ({
  side: { model, deeds },
  here,
}: {
  readonly side: SideView;
  readonly here: number | null;
}): ReactNode => (
  <div className="sheet side">
    <h3>
      <Revealed text={model} />
    </h3>
    <ol>
      {deeds.map(({ seq, what, how, args }) => (
        <li key={`${seq} ${what}`} className={seq === here ? 'differs' : undefined}>
          <span className="seq">{seq}</span>
          <div>
            <b>
              <Revealed text={what} />
            </b>{' '}
            <span className="caption">{how}</span>
            {seq === here && <span className="tag">differs first</span>}
            {args !== null && (
              <pre>
                <Revealed text={args} newlines indent />
              </pre>
            )}
          </div>
        </li>
      ))}
      {deeds.length === 0 && <li className="caption">Nothing was played.</li>}
    </ol>
  </div>
);
