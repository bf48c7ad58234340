/** onrecord cache: what a provider's cache could reuse from request to request, what it did, and what broke it. */
import { rebuildAll } from '../../context/rebuild.ts';
import type { LogStore } from '../../log/store.ts';
import { cacheReuse, type ReuseRow } from '../../view/cache-reuse.ts';
import { countOf, formatCost, formatCount, formatShare } from '../../view/format.ts';
import { causeWords, lessWords, type CauseWords } from '../../view/reuse-words.ts';
import { loadPrices } from '../../worker/priced.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { namedSession, openRecord, readRecord } from '../record.ts';
import type { Screen } from '../terminal/screen.ts';
import { concat, dim, EMPTY, line, own, SIGN, theirs, type Shown } from '../terminal/shown.ts';
import { table, type Column, type Row } from '../terminal/table.ts';

export const cache: Command = {
  name: 'cache',
  summary:
    'Shows what each request shared with the one before it, and what its provider read from its cache.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [],
  example: 'onrecord cache s_7Q2M4K8D',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const { screen } = cli;
    const session = namedSession(input, 'cache');
    const rows = await rowsOf(cli, await openRecord(cli), session);
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
    return [cells, ...noteLines(row)];
  });
  return table(COLUMNS, shown, { look: screen.look }).lines;
};

/** What broke the prefix, and what the provider left unread. */
const noteLines = (row: ReuseRow): readonly Shown[] => {
  const less = lessWords(row);
  return [
    ...row.causes.flatMap((cause) => causeLines(causeWords(cause))),
    ...(less === undefined ? [] : [concat(own('         '), SIGN.wait, own(' '), less)]),
  ];
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
  causes: row.causes.map((cause) => ({ ...cause, words: causeWords(cause).text })),
  less: lessWords(row) ?? null,
});
