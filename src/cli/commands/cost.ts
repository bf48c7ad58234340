/** onrecord cost: what sessions cost, by whatever is asked for; what is not known is named. */
import { badInput, isOnrecordError } from '../../errors.ts';
import type { LogStore } from '../../log/store.ts';
import { countOf, formatCost, formatCount, formatDay, formatDuration } from '../../view/format.ts';
import { SPEND_KEYS, spendBy, spendLines, spendOf } from '../../view/spend.ts';
import type { Spend, SpendKey, SpendLine } from '../../view/spend.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { allSessions, noteDamage, openRecord, readRecord } from '../record.ts';
import type { Screen } from '../terminal/screen.ts';
import { dim, EMPTY, line, own, SIGN, theirs, whole, type Shown } from '../terminal/shown.ts';
import { table, type Column } from '../terminal/table.ts';

export const cost: Command = {
  name: 'cost',
  summary: 'Shows what was paid: by request, turn, session, agent, model or day.',
  arguments: [{ name: 'session', description: 'one session; default all', required: false }],
  options: [
    {
      flags: '--by <what>',
      description: `${SPEND_KEYS.join(', ')}; default call for one session, else session`,
    },
  ],
  example: 'onrecord cost --by day',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const { screen } = cli;
    const [session] = input.args;
    const key = keyOf(input, session);
    const lines = await linesOf(cli, await openRecord(cli), session);
    const groups = spendBy(lines, key, (at) => formatDay(at, { zone: screen.zone }));
    const total = spendOf('total', lines);
    if (screen.jsonMode) {
      screen.json({ by: key, groups: groups.map(spendJson), total: spendJson(total), lines });
      return EXIT.done;
    }
    if (lines.length === 0) {
      screen.note(line`No model was asked yet.`);
      return EXIT.done;
    }
    screen.out(...tableLines(screen, groups, { key, session }), EMPTY, ...totalLines(total, lines));
    return EXIT.done;
  },
};

const keyOf = (input: Input, session: string | undefined): SpendKey => {
  const given = givenOption(input, 'by') ?? (session === undefined ? 'session' : 'call');
  const key = SPEND_KEYS.find((one) => one === given);
  if (key) return key;
  throw badInput('usage', `"${given}" is nothing to sum by. There are ${SPEND_KEYS.join(', ')}.`, { given });
};

const linesOf = async (
  cli: Cli,
  store: LogStore,
  session: string | undefined,
): Promise<readonly SpendLine[]> => {
  if (session !== undefined) return spendLines(session, (await readRecord(store, session)).events);
  const lines: SpendLine[] = [];
  // Oldest first, so that days stand in order.
  const rows = (await allSessions(store)).toSorted((a, b) => a.summary.createdAt - b.summary.createdAt);
  for (const row of rows) {
    try {
      lines.push(...spendLines(row.session, (await readRecord(store, row.session)).events));
    } catch (error) {
      if (!isOnrecordError(error) || error.next !== 'corrupt') throw error;
      noteDamage(cli)(row.session, error);
    }
  }
  return lines.toSorted((one, other) => one.at - other.at);
};

/** Known dollars, and how much more there may be. */
const costShown = ({ cost: usd, unknown, maybeBilled }: Spend): Shown => {
  if (unknown + maybeBilled === 0) return theirs(formatCost(usd));
  return usd > 0 ? line`${formatCost(usd)} +?` : own('unknown');
};

const TITLES: Readonly<Record<SpendKey, Shown>> = {
  call: own('request'),
  step: own('step'),
  turn: own('turn'),
  session: own('session'),
  agent: own('agent'),
  model: own('model'),
  day: own('day'),
};

type Asked = { readonly key: SpendKey; readonly session: string | undefined };

const tableLines = (screen: Screen, groups: readonly Spend[], { key, session }: Asked): readonly Shown[] => {
  const one = key === 'call';
  const columns: readonly Column[] = [
    { key: 'name', title: TITLES[key], ...(key === 'model' && { least: 12, enough: 24 }) },
    ...(one ? [] : [{ key: 'asked', title: own('asked'), align: 'right' as const, drop: 7 }]),
    { key: 'read', title: own('read'), align: 'right', drop: 2 },
    { key: 'written', title: own('written'), align: 'right', drop: 5 },
    { key: 'uncached', title: own('uncached'), align: 'right', drop: 4 },
    { key: 'output', title: own('output'), align: 'right', drop: 3 },
    { key: 'first', title: one ? own('first token') : own('first, mean'), align: 'right', drop: 1 },
    { key: 'took', title: own('took'), align: 'right', drop: 6 },
    { key: 'cost', title: own('cost'), align: 'right' },
  ];
  const rows = groups.map((spend) => {
    const { name, attempts, usage, ms, firstTokenMs } = spend;
    const short =
      session !== undefined && name.startsWith(`${session} `) ? name.slice(session.length + 1) : name;
    return {
      name: whole(short),
      asked: theirs(formatCount(attempts)),
      read: theirs(formatCount(usage.cacheRead)),
      written: theirs(formatCount(usage.cacheWrite)),
      uncached: theirs(formatCount(usage.input)),
      output: theirs(formatCount(usage.output)),
      first: firstTokenMs === undefined ? dim(own('–')) : theirs(formatDuration(firstTokenMs)),
      took: theirs(formatDuration(ms)),
      cost: costShown(spend),
    };
  });
  return table(columns, rows, { look: screen.look }).lines;
};

const totalLines = (total: Spend, lines: readonly SpendLine[]): readonly Shown[] => {
  const { unknown, maybeBilled, attempts } = total;
  const sum = line`${SIGN.decision} ${formatCost(total.cost)} known, ${countOf(attempts, 'request')} counted.`;
  const sources = new Set(lines.flatMap(({ price }) => (price ? [`${price.source} of ${price.date}`] : [])));
  return [
    sum,
    ...(unknown > 0 ? [line`  ${countOf(unknown, 'answer')} without a known price: not counted.`] : []),
    ...(maybeBilled > 0
      ? [line`  ${countOf(maybeBilled, 'request')} without an answer on record: may have been billed.`]
      : []),
    ...[...sources].map((source) => dim(line`  Prices from ${source}.`)),
  ];
};

const spendJson = (spend: Spend): Readonly<Record<string, unknown>> => ({
  ...spend,
  /** Null while a part of it is unknown: `knownCost` is what is known. */
  cost: spend.unknown + spend.maybeBilled === 0 ? spend.cost : null,
  knownCost: spend.cost,
  firstTokenMs: spend.firstTokenMs ?? null,
});
