/** What came of a rehearsal, as lines: the first divergence, what changed after it, and what each run took. */
import { canonical } from '../event/canonical.ts';
import type { Json } from '../event/json.ts';
import type { ComparedCall, Divergence, OtherArguments, TurnEnd } from '../rehearse/compare.ts';
import type { Rehearsal } from '../rehearse/rehearse.ts';
import type { Spent } from '../rehearse/trace.ts';
import { argumentsBrief, cutText, firstLine } from '../view/brief.ts';
import { countOf, formatCost, formatCount, formatDuration } from '../view/format.ts';
import { cut, pad, wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import {
  concat,
  dim,
  EMPTY,
  line,
  own,
  repeat,
  role,
  SIGN,
  strong,
  theirs,
  whole,
  type Shown,
} from './terminal/shown.ts';
import { table } from './terminal/table.ts';

/** Calls of one kind that are named. */
const CALLS_SHOWN_MAX = 8;
/** UTF-16 units of a value on one line. */
const VALUE_UNITS_MAX = 200;
/** From this width on the two sides stand beside each other. */
const SIDES_COLUMNS_MIN = 100;
const GAP_CELLS = 3;

export const rehearsalLines = (found: Rehearsal, look: Look): readonly Shown[] => [
  headLine(found),
  ...stopLines(found),
  ...(found.divergence ? divergenceLines(found.divergence, look) : []),
  ...changeLines(found, look),
  ...answerLines(found, look),
  EMPTY,
  ...totalsLines(found, look),
];

const headLine = ({ session, divergence, sameWords }: Rehearsal): Shown => {
  if (divergence) {
    const step = divergence.step === undefined ? EMPTY : line`, step ${divergence.step}`;
    return line`${SIGN.fail} ${whole(session)} comes out otherwise from turn ${divergence.turn}${step} on.  ${dim(own('rehearsal-differs'))}`;
  }
  const words = sameWords ? line`, word for word` : line`, in other words`;
  return line`${SIGN.ok} ${whole(session)} comes out the same${words}.`;
};

const stopLines = ({ stopped, stubbed, asked, ran }: Rehearsal): readonly Shown[] => {
  const notes: Shown[] = [];
  if (stopped?.reason === 'not-in-record')
    notes.push(
      line`  Stopped: the record has no result of ${strong(stopped.call?.tool ?? 'a call')} ${argumentsBrief(stopped.call?.args ?? '')}`,
    );
  else if (stopped?.reason === 'record-ends')
    notes.push(
      line`  The record has not come further: ${strong(stopped.call?.tool ?? 'a call')} has no result in it.`,
    );
  else if (stopped) notes.push(line`  Stopped: ${stopped.reason}.`);
  if (stubbed > 0)
    notes.push(line`  ${countOf(stubbed, 'call')} not in the record: gone on with as if they had worked.`);
  if (asked > 0) notes.push(line`  ${countOf(asked, 'call')} not in the record: you were asked.`);
  if (ran > 0) notes.push(line`  ${countOf(ran, 'read')} not in the record: run in the world as it is.`);
  return notes;
};

const valueText = (value: Json | undefined): string => {
  if (value === undefined) return 'nothing';
  const text = canonical(value);
  return text.length <= VALUE_UNITS_MAX
    ? text
    : `${cutText(text, VALUE_UNITS_MAX)} (${formatCount(text.length)} characters)`;
};

const place = (at: number | undefined): string => (at === undefined ? 'not reached' : `event ${at}`);

const divergenceLines = ({ path, seq, recorded, rehearsed }: Divergence, look: Look): readonly Shown[] => {
  return [
    EMPTY,
    line`  ${strong(own('First divergence'))}  at  ${path === '' ? own('the whole step') : whole(path)}`,
    ...sides(
      [`recorded, ${place(seq.recorded)}`, valueText(recorded)],
      [`rehearsed, ${place(seq.rehearsed)}`, valueText(rehearsed)],
      look,
    ),
  ];
};

type Side = readonly [title: string, text: string];

/** Beside each other where there is room, else under each other. */
const sides = (one: Side, other: Side, look: Look): readonly Shown[] => {
  if (!look.terminal || look.columns < SIDES_COLUMNS_MIN)
    return [
      ...stacked('del', line`- ${one[0]}`, one[1], look),
      ...stacked('add', line`+ ${other[0]}`, other[1], look),
    ];
  const width = Math.floor((look.columns - 2 - GAP_CELLS) / 2);
  const [left, right] = [column('del', one, width, look), column('add', other, width, look)];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) =>
    concat(own('  '), pad(left[i] ?? EMPTY, width), repeat(' ', GAP_CELLS), right[i] ?? EMPTY),
  );
};

const stacked = (paint: 'del' | 'add', title: Shown, text: string, look: Look): readonly Shown[] => {
  const lines = theirs(text);
  const pieces = look.terminal ? wrap(fit(lines, look), look.textColumns - 5, { strict: true }) : [lines];
  return [line`   ${role(paint, title)}`, ...pieces.map((piece) => line`     ${role(paint, piece)}`)];
};

const column = (paint: 'del' | 'add', [title, text]: Side, width: number, look: Look): readonly Shown[] => [
  dim(cut(fit(theirs(title), look), width, look.ascii)),
  ...wrap(fit(theirs(text), look), width, { strict: true }).map((piece) => role(paint, piece)),
];

const changeLines = (
  { onlyRecorded, onlyRehearsed, otherArguments }: Rehearsal,
  look: Look,
): readonly Shown[] => {
  if (onlyRecorded.length + onlyRehearsed.length + otherArguments.length === 0) return [];
  return [
    EMPTY,
    line`  ${strong(own('From there on'))}`,
    ...callLines(own('only in the record'), onlyRecorded, look),
    ...callLines(own('only in the rehearsal'), onlyRehearsed, look),
    ...otherLines(otherArguments),
  ];
};

const callLines = (title: Shown, calls: readonly ComparedCall[], look: Look): readonly Shown[] => {
  if (calls.length === 0) return [];
  const more = calls.length - CALLS_SHOWN_MAX;
  return [
    line`  ${title}: ${countOf(calls.length, 'call')}`,
    ...calls
      .slice(0, CALLS_SHOWN_MAX)
      .map(({ id, tool, args }) =>
        oneLine(line`     ${dim(whole(id))} ${strong(tool)}  ${argumentsBrief(args)}`, look),
      ),
    ...(more > 0 ? [line`     … ${countOf(more, 'more call')}`] : []),
  ];
};

/** The whole of a call is in show; here it is named. */
const oneLine = (shown: Shown, look: Look): Shown =>
  look.terminal ? cut(fit(shown, look), look.columns, look.ascii) : shown;

const otherLines = (others: readonly OtherArguments[]): readonly Shown[] => {
  if (others.length === 0) return [];
  const more = others.length - CALLS_SHOWN_MAX;
  return [
    line`  with other arguments: ${countOf(others.length, 'call')}`,
    ...others
      .slice(0, CALLS_SHOWN_MAX)
      .flatMap(({ tool, recorded, rehearsed, difference }) => [
        line`     ${dim(whole(recorded.id))} ${strong(tool)}  at ${whole(difference.path)}`,
        line`       ${role('del', line`- ${valueText(difference.recorded)}`)}`,
        line`       ${role('add', line`+ ${valueText(difference.now)}`)}  ${dim(whole(rehearsed.id))}`,
      ]),
    ...(more > 0 ? [line`     … ${countOf(more, 'more call')}`] : []),
  ];
};

/** The answers of turns that say something else. */
const answerLines = ({ turns }: Rehearsal, look: Look): readonly Shown[] =>
  turns
    .filter(({ recorded, rehearsed }) => (recorded?.answer ?? '') !== (rehearsed?.answer ?? ''))
    .slice(0, CALLS_SHOWN_MAX)
    .flatMap(({ turn, recorded, rehearsed }) => [
      EMPTY,
      line`  ${strong(line`Last words of turn ${turn}`)}`,
      ...sides(['recorded', answerText(recorded)], ['rehearsed', answerText(rehearsed)], look),
    ]);

const answerText = (end: TurnEnd | undefined): string => {
  if (!end) return 'the turn was not reached';
  return end.answer === '' ? 'nothing' : cutText(firstLine(end.answer), VALUE_UNITS_MAX);
};

const totalsLines = ({ turns, spent }: Rehearsal, look: Look): readonly Shown[] => {
  const rows: readonly (readonly [string, (spend: Spent) => string])[] = [
    ['model requests', ({ requests }) => formatCount(requests)],
    ['calls', ({ calls }) => formatCount(calls)],
    ['cost', ({ cost }) => formatCost(cost)],
    ['tokens in', ({ usage }) => tokens(usage && usage.cacheRead + usage.cacheWrite + usage.input)],
    ['tokens out', ({ usage }) => tokens(usage?.output)],
    ['time of the model', ({ modelMs }) => formatDuration(modelMs)],
  ];
  return table(
    [
      { key: 'name', title: EMPTY },
      { key: 'recorded', title: own('recorded'), align: 'right' },
      { key: 'rehearsed', title: own('rehearsed'), align: 'right' },
    ],
    [
      ...turns.map(({ turn, recorded, rehearsed }) => ({
        name: line`turn ${turn}`,
        recorded: theirs(endText(recorded)),
        rehearsed: theirs(endText(rehearsed)),
      })),
      ...rows.map(([name, text]) => ({
        name: theirs(name),
        recorded: theirs(text(spent.recorded)),
        rehearsed: theirs(text(spent.rehearsed)),
      })),
    ],
    { look, indent: 2 },
  ).lines;
};

const endText = (end: TurnEnd | undefined): string =>
  end ? `${end.outcome}, ${countOf(end.steps, 'step')}` : 'not reached';

const tokens = (count: number | undefined): string => (count === undefined ? 'unknown' : formatCount(count));
