/** What a crash matrix found, as lines: the table by boundary, the verdict, and every kill that ended wrong. */
import { whereWords, POINT_WORDS } from '../suite/crash/points.ts';
import { matrixRows, verdictCounts, type KillResult, type Matrix } from '../suite/crash/matrix.ts';
import type { Boundary } from '../suite/crash/boundary.ts';
import type { Verdict } from '../suite/crash/judge.ts';
import { doubtWords, unjudgedWords, wrongWords } from '../suite/crash/words.ts';
import { countOf, formatCount, formatDuration } from '../view/format.ts';
import { command } from './terminal/command.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { dim, EMPTY, line, own, role, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';
import { table, type Column, type Row } from './terminal/table.ts';

/** Wrong kills that are named one by one. */
const KILLS_SHOWN_MAX = 20;

export type CrashReport = {
  readonly matrix: Matrix;
  readonly look: Look;
  /** The words of the command line, without --only: what repeats one kill. */
  readonly again: readonly string[];
};

export const crashLines = (report: CrashReport): readonly Shown[] => {
  const { matrix, look } = report;
  if (matrix.results.length === 0) return [headLine(matrix)];
  return [headLine(matrix), EMPTY, ...tableLines(matrix, look), EMPTY, ...verdictLines(report)];
};

const headLine = ({ scenario, boundaries, results, mode }: Matrix): Shown => {
  const singles = results.filter(({ kill }) => kill.length === 1).length;
  const doubles = results.length - singles;
  const real = mode === 'real' ? 'real ' : '';
  const kills = [
    ...(singles > 0 ? [countOf(singles, `single ${real}kill`)] : []),
    ...(doubles > 0 ? [countOf(doubles, `double ${real}kill`)] : []),
  ];
  return line`${strong(scenario)}   ${[countOf(boundaries.length, 'boundary', 'boundaries'), ...kills].join(', ')}`;
};

const COLUMNS: readonly { readonly key: Verdict | 'kills'; readonly title: Shown; readonly role?: 'fail' }[] =
  [
    { key: 'kills', title: own('kills') },
    { key: 'same-end', title: own('same end') },
    { key: 'in-doubt', title: own('in doubt') },
    { key: 'twice', title: own('twice'), role: 'fail' },
    { key: 'lost', title: own('lost'), role: 'fail' },
    { key: 'unproved', title: own('not proved'), role: 'fail' },
    { key: 'other-end', title: own('other end'), role: 'fail' },
    { key: 'not-reached', title: own('not reached') },
  ];

/** As much of a boundary's name as tells it from the others. */
const BOUNDARY_CELLS_MIN = 26;

/** Columns that stand only where there is something in them. */
const RARE: ReadonlySet<string> = new Set(['unproved', 'other-end', 'not-reached']);

const tableLines = (matrix: Matrix, look: Look): readonly Shown[] => {
  const total = { kills: matrix.results.length, ...verdictCounts(matrix.results) };
  const shown = COLUMNS.filter(({ key }) => !RARE.has(key) || total[key] > 0);
  const cellsOf = (counts: typeof total): Readonly<Record<string, Shown>> =>
    Object.fromEntries(
      shown.map((column) => {
        const text = theirs(formatCount(counts[column.key]));
        return [column.key, column.role && counts[column.key] > 0 ? role(column.role, text) : text];
      }),
    );
  const columns: readonly Column[] = [
    { key: 'boundary', title: own('boundary'), least: BOUNDARY_CELLS_MIN },
    // What went well can be counted from the rest.
    ...shown.map(({ key, title }): Column => ({
      key,
      title,
      align: 'right',
      ...(key === 'same-end' && { drop: 1 }),
    })),
  ];
  const rows = matrixRows(matrix).map((row): Row => ({
    boundary: theirs(POINT_WORDS[row.point]),
    ...cellsOf(row),
  }));
  const sum = rows.length > 1 ? [cellsOf(total)] : [];
  return table(columns, [...rows, ...sum], { look, indent: 2 }).lines;
};

const verdictLines = (report: CrashReport): readonly Shown[] => {
  const { matrix, look } = report;
  const { results, ms, seed, complete } = matrix;
  const said = (sign: Shown, sentence: Shown): readonly Shown[] =>
    wrap(
      fit(line`${sign} ${sentence} ${formatDuration(ms)}, seed ${String(seed)}.`, look),
      look.textColumns,
      {
        hanging: 2,
      },
    );
  const wrong = results.filter((result) => result.wrong);
  const unjudged = results.filter(({ verdict }) => verdict === 'not-reached');
  // Where the way is not the same each time, another end may be the scenario's own doing: that comes first.
  const bad = [
    ...(unjudged.length > 0
      ? [{ sign: SIGN.errored, words: unjudgedWords(unjudged.length), kills: unjudged }]
      : []),
    ...(wrong.length > 0 ? [{ sign: SIGN.fail, words: wrongWords(results), kills: wrong }] : []),
  ];
  if (bad.length > 0)
    return bad.flatMap(({ sign, words, kills }, i) => [
      ...(i > 0 ? [EMPTY] : []),
      ...said(sign, theirs(words)),
      ...kills.slice(0, KILLS_SHOWN_MAX).flatMap((one) => [EMPTY, ...killLines(one, report)]),
      ...moreLine(kills.length - KILLS_SHOWN_MAX),
    ]);
  const doubt = doubtWords(results);
  const start = complete ? own('No') : own('So far no');
  return said(SIGN.ok, line`${start} effect ran twice, nothing was lost.${doubt === '' ? '' : ` ${doubt}`}`);
};

const moreLine = (count: number): readonly Shown[] =>
  count > 0 ? [EMPTY, line`  … ${formatCount(count)} more; --json and --html have them all`] : [];

const SIGNS: Readonly<Record<Verdict, Shown>> = {
  'same-end': SIGN.ok,
  'in-doubt': SIGN.doubt,
  twice: SIGN.fail,
  lost: SIGN.fail,
  unproved: SIGN.fail,
  'other-end': SIGN.fail,
  'not-reached': SIGN.errored,
};

/** One kill: where it struck, how the run ended, and how to see it again. */
export const killLines = (result: KillResult, { look, again }: CrashReport): readonly Shown[] => {
  const { kill, struck, verdict, detail } = result;
  const columns = look.terminal ? look.textColumns : Infinity;
  return [
    line`  ${SIGNS[verdict]} ${strong(`kill ${kill.join(', ')}`)}   ${struckWords(struck)}`,
    ...wrap(
      fit(line`    ${verdict.replace('-', ' ')}${detail === '' ? own('') : line`: ${detail}`}`, look),
      columns,
      { hanging: 6 },
    ),
    dim(line`    ${command(...again, '--only', kill.join(','))}`),
  ];
};

const struckWords = (struck: readonly Boundary[]): string =>
  struck.map((place) => `${POINT_WORDS[place.point]} (${whereWords(place)})`).join(', then ');
