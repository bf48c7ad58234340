/** What killing every scenario of a suite at every boundary came to, as lines. */
import type { CrashReport } from '../suite/exam/crash-suite.ts';
import { POINT_WORDS, whereWords } from '../suite/crash/points.ts';
import { countOf, formatCount, formatDuration } from '../view/format.ts';
import type { Look } from './terminal/look.ts';
import { EMPTY, line, own, role, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';
import { table, type Column, type Row } from './terminal/table.ts';

const KILLS_SHOWN_MAX = 20;
const NAME_CELLS_MIN = 24;

export const crashSuiteLines = (report: CrashReport, look: Look): readonly Shown[] => {
  const { scenarios: all, planned, tried, ms } = report;
  const columns: readonly Column[] = [
    { key: 'scenario', least: NAME_CELLS_MIN },
    { key: 'kills', title: own('kills'), align: 'right' },
    { key: 'same', title: own('same end'), align: 'right', drop: 1 },
    { key: 'inDoubt', title: own('in doubt'), align: 'right' },
    { key: 'wrong', title: own('wrong'), align: 'right' },
  ];
  const rows = all.map(({ scenario, same, inDoubt, wrong }): Row => {
    const bad = theirs(formatCount(wrong.length));
    return {
      scenario: theirs(scenario),
      kills: theirs(formatCount(same + inDoubt + wrong.length)),
      same: theirs(formatCount(same)),
      inDoubt: theirs(formatCount(inDoubt)),
      wrong: wrong.length > 0 ? role('fail', bad) : bad,
    };
  });
  const wrong = all.flatMap((one) => one.wrong.map((kill) => ({ ...kill, scenario: one.scenario })));
  const unjudged = all.filter((one) => one.unjudged.length > 0);
  return [
    ...table(columns, rows, { look }).lines,
    ...wrong
      .slice(0, KILLS_SHOWN_MAX)
      .flatMap(({ scenario, boundary, place, problems: [first] }) => [
        EMPTY,
        line`${SIGN.fail} ${strong(theirs(scenario))}   kill ${boundary}${place ? `, ${POINT_WORDS[place.point]} (${whereWords(place)})` : ''}`,
        line`    ${first?.expectation ?? ''}: ${first?.message ?? ''}`,
      ]),
    ...unjudged.flatMap(({ scenario, unjudged: [first] }) => [
      EMPTY,
      line`${SIGN.errored} ${strong(theirs(scenario))} does not pass without a kill: ${first?.expectation ?? ''}, ${first?.message ?? ''}`,
    ]),
    EMPTY,
    line`${wrong.length > 0 ? SIGN.fail : unjudged.length > 0 ? SIGN.errored : SIGN.ok} ${countOf(all.length, 'scenario')}, ${killWords(tried, planned)}, ${formatCount(wrong.length)} wrong, ${formatDuration(ms)}`,
  ];
};

const killWords = (tried: number, planned: number): string =>
  tried < planned ? `${formatCount(tried)} of ${countOf(planned, 'kill')} tried` : countOf(planned, 'kill');
