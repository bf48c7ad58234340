/** Which reports of suites there are, the newest first. */
import type { ReactNode } from 'react';
import type { SuiteRow, SuitesView } from '../../server/suite-shapes.ts';
import { countOf, formatCount } from '../../view/format.ts';
import '../style/suites.css';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Link } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';

const SuitesPage = (): ReactNode => {
  const { data, problem, again } = useQuery<SuitesView>('/suites', (signal) => door.read('/suites', signal));
  return (
    <main id="main" className="page suites">
      <div className="page-head">
        <div>
          <h1>Suites</h1>
          <p>Reports in the folder of reports, the newest first.</p>
        </div>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} again={again} />}
      {!data && problem === undefined && <Loading what="reports" />}
      {data?.items.length === 0 && (
        <Empty title="No reports yet">
          <p>Run a suite and put its report where this server looks:</p>
          <p>
            <code>onrecord suite run --json &gt; .onrecord/reports/everyday.json</code>
          </p>
        </Empty>
      )}
      {data && data.items.length > 0 && <Reports rows={data.items} />}
    </main>
  );
};

export default SuitesPage;

const Reports = ({ rows }: { readonly rows: readonly SuiteRow[] }): ReactNode => (
  <div className="sheet">
    <table className="stacked">
      <thead>
        <tr>
          <th scope="col">Report</th>
          <th scope="col">Result</th>
          <th scope="col">Models</th>
          <th scope="col" className="number">
            Scenarios
          </th>
          <th scope="col" className="number">
            Differences
          </th>
          <th scope="col" className="number">
            Written
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td className="what">
              <Link to={`/suites/${encodeURIComponent(row.name)}`}>{row.name}</Link>
            </td>
            <td>
              {row.problem === null ? (
                <Tally row={row} />
              ) : (
                <span className="dim">
                  <Revealed text={row.problem} />
                </span>
              )}
            </td>
            <td>
              <Revealed text={row.models.join(', ')} />
            </td>
            <td className="number" data-label="scenarios">
              {formatCount(row.scenarios)}
            </td>
            <td className="number" data-label="differences">
              {formatCount(row.differences)}
            </td>
            <td className="number">
              <Moment at={row.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

type Counts = Pick<SuiteRow, 'passed' | 'failed' | 'errored' | 'complete'>;

export const Tally = ({
  row: { passed, failed, errored, complete },
}: {
  readonly row: Counts;
}): ReactNode => (
  <span className="pills">
    <Pill kind="done" icon="done" word={`${formatCount(passed)} passed`} bare={failed + errored > 0} />
    {failed > 0 && <Pill kind="fail" icon="fail" word={`${formatCount(failed)} failed`} />}
    {errored > 0 && <Pill kind="wait" icon="warn" word={`${formatCount(errored)} errored`} />}
    {!complete && (
      <span className="dim">stopped before its end, {countOf(passed + failed + errored, 'run')}</span>
    )}
  </span>
);
