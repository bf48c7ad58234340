/** onrecord cache: what a provider's cache could reuse from request to request, what it did, and what broke it. */
import { rebuildAll } from '../../context/rebuild.ts';
import type { LogStore } from '../../log/store.ts';
import { cacheReuse, type ReuseRow } from '../../view/cache-reuse.ts';
import { breakEvenMs, WARM_RULES, warmReport, warmRow } from '../../view/warm-keeping.ts';
import type { WarmReport, WarmRow } from '../../view/warm-keeping.ts';
import { ratesAt } from '../../cost/prices.ts';
import { countOf, formatCost, formatCount, formatDuration, formatShare } from '../../view/format.ts';
import { remarkLines } from '../../view/remark-words.ts';
import { causeWords, lessWords, type CauseWords } from '../../view/reuse-words.ts';
import { loadPrices } from '../../worker/priced.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { isGiven } from '../given.ts';
import { namedSession, openRecord, readRecord } from '../record.ts';
import type { Screen } from '../terminal/screen.ts';
import { wrap } from '../terminal/cells.ts';
import { fit, type Look } from '../terminal/look.ts';
import { concat, dim, EMPTY, line, own, repeat, SIGN, theirs, type Shown } from '../terminal/shown.ts';
import { table, type Column, type Row } from '../terminal/table.ts';

export const cache: Command = {
  name: 'cache',
  summary:
    'Shows what each request shared with the one before it, and what its provider read from its cache.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    { flags: '--warm', description: 'what pinging through the recorded pauses would have cost and saved' },
  ],
  example: 'onrecord cache s_7Q2M4K8D',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const { screen } = cli;
    const session = namedSession(input, 'cache');
    const store = await openRecord(cli);
    if (isGiven(input, 'warm')) return showWarm(cli, store, session);
    const rows = await rowsOf(cli, store, session);
    if (screen.jsonMode) {
      screen.json({ session, requests: rows.map(rowJson) });
      return EXIT.done;
    }
    if (rows.length === 0) {
      screen.note(line`Session ${session} has no request yet.`);
      return EXIT.done;
    }
    screen.out(...tableLines(screen, rows), EMPTY, ...totalLines(rows));
    return EXIT.done;
  },
};

const rowsOf = async (cli: Cli, store: LogStore, session: string): Promise<readonly ReuseRow[]> => {
  const { events } = await readRecord(store, session);
  const prices = await loadPrices(await cli.priceOverrides());
  const requests = rebuildAll(events, (digest) => store.blob(digest));
  return cacheReuse(session, events, requests, { prices });
};

/** Recorded pauses beyond a cache's lifetime, and a break-even table for the largest prefix of the session. */
const showWarm = async (cli: Cli, store: LogStore, session: string): Promise<ExitCode> => {
  const { screen } = cli;
  const rows = await rowsOf(cli, store, session);
  const { state } = await readRecord(store, session);
  const prices = await loadPrices(await cli.priceOverrides());
  const { provider, name: model } = state.agent.model;
  const asked = { provider, model, at: state.lastAt };
  const report = warmReport(rows, prices, asked);
  const tokens = Math.max(0, ...rows.map((row) => row.tokens ?? 0));
  const rates = ratesAt(prices, asked, tokens);
  const even =
    rates && tokens > 0 ? BREAK_EVEN_MIN.map((min) => warmRow(min * MINUTE_MS, tokens, rates)) : [];
  const evenMs = rates && tokens > 0 ? breakEvenMs(tokens, rates) : undefined;
  if (screen.jsonMode) {
    screen.json({ session, rules: WARM_RULES, ...report, tokens, breakEvenMs: evenMs ?? null, table: even });
    return EXIT.done;
  }
  screen.out(...warmLines(screen, report, { tokens, even, evenMs, model }));
  return EXIT.done;
};

const MINUTE_MS = 60_000;
const BREAK_EVEN_MIN = [5, 6, 10, 15, 20, 30, 45, 60, 120] as const;

type BreakEven = {
  readonly tokens: number;
  readonly even: readonly WarmRow[];
  readonly evenMs: number | undefined;
  readonly model: string;
};

const warmCells = (row: WarmRow): Row => ({
  what: theirs(formatDuration(row.gapMs)),
  pings: theirs(formatCount(row.pings)),
  cost: theirs(formatCost(row.pingUsd)),
  cold: theirs(formatCost(row.coldUsd)),
  saved: theirs(formatCost(row.savedUsd)),
});

const warmLines = (
  screen: Screen,
  report: WarmReport,
  { tokens, even, evenMs, model }: BreakEven,
): readonly Shown[] => {
  const columns: readonly Column[] = [
    { key: 'what', title: own('pause'), align: 'right' },
    { key: 'pings', title: own('pings'), align: 'right' },
    { key: 'cost', title: own('cost of pings'), align: 'right' },
    { key: 'cold', title: own('cold prefix'), align: 'right' },
    { key: 'saved', title: own('saved'), align: 'right' },
  ];
  const { lifetimeMs, pingEveryMs } = WARM_RULES;
  const recorded =
    report.rows.length === 0
      ? [line`No recorded pause was longer than ${formatDuration(lifetimeMs)} with a known price.`]
      : [
          ...table(columns, report.rows.map(warmCells), { look: screen.look }).lines,
          line`Pings would have cost ${formatCost(report.pingUsd)} and saved ${formatCost(report.savedUsd)} on balance.`,
        ];
  const unknown =
    report.unknown > 0 ? [line`${countOf(report.unknown, 'pause')} without a known price: not counted.`] : [];
  if (evenMs === undefined)
    return [...recorded, ...unknown, EMPTY, line`No price is known for ${model}: no break-even.`];
  return [
    ...recorded,
    ...unknown,
    EMPTY,
    line`Break-even for ${countOf(tokens, 'token')} of ${model}: ${evenMs > 0 ? `pauses up to ${formatDuration(evenMs)}` : 'never'}`,
    ...table(columns, even.map(warmCells), { look: screen.look }).lines,
    dim(
      line`A prefix is kept for ${formatDuration(lifetimeMs)}, a ping each ${formatDuration(pingEveryMs)} reads it again.`,
    ),
  ];
};

const COLUMNS: readonly Column[] = [
  { key: 'number', title: own('request'), align: 'right' },
  { key: 'parts', title: own('parts'), align: 'right', drop: 4 },
  { key: 'same', title: own('same bytes'), align: 'right' },
  { key: 'tokens', title: own('tokens'), align: 'right', drop: 3 },
  { key: 'expected', title: own('expected'), align: 'right' },
  { key: 'read', title: own('read'), align: 'right' },
  { key: 'written', title: own('written'), align: 'right', drop: 2 },
  { key: 'lost', title: own('lost'), align: 'right' },
  { key: 'cost', title: own('cost of it'), align: 'right', drop: 1 },
];

const NONE: Shown = dim(own('–'));

const counted = (count: number | undefined): Shown =>
  count === undefined ? NONE : theirs(formatCount(count));

const tableLines = (screen: Screen, rows: readonly ReuseRow[]): readonly Shown[] => {
  const shown = rows.flatMap((row): readonly Row[] => {
    const first = row.verdict === 'first';
    const cells: Row = {
      number: theirs(formatCount(row.number)),
      parts: theirs(formatCount(row.parts)),
      same: first ? NONE : theirs(formatShare(row.sharedBytes / row.bytes, 1)),
      tokens: counted(row.tokens),
      expected: counted(row.sharedTokens),
      read: counted(row.reported?.cacheRead),
      written: counted(row.reported?.cacheWrite),
      lost: counted(row.lostTokens),
      cost: row.lostTokens === undefined ? NONE : theirs(row.lostTokens === 0 ? '' : formatCost(row.lostUsd)),
    };
    return [cells, ...noteLines(row, screen.look)];
  });
  return table(COLUMNS, shown, { look: screen.look }).lines;
};

/** What broke the prefix, what the provider left unread, and what it says itself. */
const noteLines = (row: ReuseRow, look: Look): readonly Shown[] => {
  const less = lessWords(row);
  return [
    ...row.causes.flatMap((cause) => causeLines(causeWords(cause))),
    ...(less === undefined ? [] : [concat(own('         '), SIGN.wait, own(' '), less)]),
    ...remarkLines(row.remarks).flatMap((said) => remarkShown(said, look)),
  ];
};

/** Cells before a note of a row, with its mark. */
const NOTE_INDENT = 11;

/** What does not fit goes on under its own beginning. */
const remarkShown = (said: string, look: Look): readonly Shown[] => {
  const ready = fit(theirs(said), look);
  const pieces = look.terminal ? wrap(ready, look.textColumns - NOTE_INDENT, { strict: true }) : [ready];
  return pieces.map((piece, i) =>
    i === 0 ? line`         ${SIGN.fact} ${piece}` : concat(repeat(' ', NOTE_INDENT), piece),
  );
};

const causeLines = ({ text, quotes }: CauseWords): readonly Shown[] => [
  concat(own('         '), SIGN.fail, own(' '), text),
  ...quotes.map(({ before, after }) => line`             “${before}” became “${after}”`),
];

const totalLines = (rows: readonly ReuseRow[]): readonly Shown[] => {
  const broken = rows.filter((row) => row.causes.length > 0);
  const lost = rows.reduce((sum, { lostTokens = 0 }) => sum + lostTokens, 0);
  const costs = rows.flatMap(({ lostUsd, lostTokens }) => (lostTokens ? [lostUsd] : []));
  const usd = costs.some((cost) => cost === undefined)
    ? undefined
    : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  if (broken.length === 0)
    return [line`${SIGN.ok} ${countOf(rows.length, 'request')}, each begins with all of the one before it.`];
  return [
    line`${SIGN.fail} ${countOf(broken.length, 'request')} of ${formatCount(rows.length)} did not begin with the one before.`,
    line`  ${countOf(lost, 'token')} read anew, ${usd === undefined ? 'cost unknown' : formatCost(usd)} beyond a cache read, by bytes.`,
  ];
};

const rowJson = (row: ReuseRow): Readonly<Record<string, unknown>> => ({
  ...row,
  sharedTokens: row.sharedTokens ?? null,
  tokens: row.tokens ?? null,
  lostTokens: row.lostTokens ?? null,
  lostUsd: row.lostUsd ?? null,
  gapMs: row.gapMs ?? null,
  reported: row.reported ?? null,
  remarks: row.remarks ?? null,
  causes: row.causes.map((cause) => ({ ...cause, words: causeWords(cause).text })),
  less: lessWords(row) ?? null,
});
