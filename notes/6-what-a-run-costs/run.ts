/**
 * A run in which things go wrong with the provider: it is busy, its answer breaks off, the process is stopped during
 * another. Then the bill and the waiting are read from the record, and nothing else.
 */
import { equal, ok } from 'node:assert/strict';
import type { EventView } from '../../src/client.ts';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { Gate } from '../kit/gate.ts';
import { WAIT_SECONDS } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { ChatProvider, type ChatReply, type ChatUsage } from '../kit/provider.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '6-what-a-run-costs';

/** Milliseconds that the provider lets everybody wait for a first word. */
const FIRST_MS = 40;

/** Dollars a million tokens. */
const RATES = { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10 } as const;
type Class = keyof typeof RATES;
const CLASSES = Object.keys(RATES) as readonly Class[];
const PRICES = `date: 2026-11-29
models:
  - { provider: by-rule, model: clerk-1, ${CLASSES.map((one) => `${one}: ${RATES[one]}`).join(', ')} }
`;
const MILLION = 1_000_000;

type Usage = Readonly<Record<Class, number>>;

const usage = (prompt: number, cached: number, written: number, completion: number): ChatUsage => ({
  prompt,
  cached,
  written,
  completion,
});

/** What comes of the requests to the provider, in the order in which they come. */
const replies = (midway: Gate): readonly ChatReply[] => [
  { status: 429, headers: { 'retry-after-ms': '5' } },
  { text: 'I look.', calls: [{ tool: 'stock__read', args: {} }], usage: usage(12_000, 0, 11_900, 40) },
  { text: 'There are forty hinges.', cut: true },
  { text: 'There are forty hinges.', usage: usage(12_150, 11_900, 200, 60) },
  { text: 'That is enough for twenty doors.', midway },
  { text: 'That is enough for twenty doors.', usage: usage(12_300, 12_100, 150, 70) },
  { text: 'I have noted it.', usage: usage(12_450, 0, 12_400, 30) },
];

const SAID = ['How many hinges are there?', 'For how many doors is that?', 'Note it.'] as const;

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const midway = new Gate();
  const list = replies(midway);
  const provider = bench.closing(
    await ChatProvider.open(({ before }) => ({
      ...list[before],
      first: new Promise((resolve) => setTimeout(resolve, FIRST_MS)),
    })),
  );
  const machine = bench.machine(NAME, { env: { NOTE_PROVIDER: provider.url } });
  machine.write('prices.yaml', PRICES);
  const first = await machine.serve();
  const [one, two, three] = SAID;
  const { session } = await first.client.createSession(
    { agent: 'clerk', message: one },
    { key: 'a', waitSeconds: WAIT_SECONDS },
  );
  await first.client.send(session, { message: two }, { key: 'b' });
  await midway.arrived();
  await first.kill();
  const second = await machine.serve();
  equal((await second.client.turn(session, 2, WAIT_SECONDS)).state, 'done');
  equal(
    (await second.client.send(session, { message: three }, { key: 'c', waitSeconds: WAIT_SECONDS })).state,
    'done',
  );
  const events = await eventsOf(second, session);
  const attempts = attemptsIn(events);
  drawAttempts(attempts, findings);
  drawBill(attempts, findings);
  const { total } = await second.client.costs({ session });
  const told = { total, sent: provider.requests.length };
  claims({ attempts, ...told }, findings);
  findings.varying('waits.txt', waits(attempts));
  findings.file('events.txt', eventTable(events));
  for (const number of [1, 2, 3, 4])
    findings.file(`requests/${number}.json`, await second.request(session, number));
  findings.bundle('run.onrecord', await second.bundle(session));
};

type Attempt = {
  readonly step: string;
  readonly attempt: number;
  readonly end: string;
  /** Whether it cost something: it did, it may have, it did not. */
  readonly billed: 'yes' | 'maybe' | 'no';
  readonly usage: Usage | undefined;
  readonly cost: number | undefined;
  readonly firstTokenMs: number | undefined;
  readonly ms: number | undefined;
};

type Data = {
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  readonly usage?: Usage;
  readonly cost?: number;
  readonly firstTokenMs?: number;
  readonly ms?: number;
  readonly maybeBilled?: boolean;
  readonly problem?: { readonly kind: string };
};

/** Every attempt of every request, from the events alone. */
const attemptsIn = (events: readonly EventView[]): readonly Attempt[] => {
  let open: Pick<Attempt, 'step' | 'attempt'> | undefined;
  const found: Attempt[] = [];
  const close = (more: Pick<Attempt, 'end' | 'billed'>, data: Partial<Data> = {}): void => {
    if (!open) return;
    const { usage: used, cost, firstTokenMs, ms } = data;
    found.push({ ...open, ...more, usage: used, cost, firstTokenMs, ms });
    open = undefined;
  };
  for (const { type, data } of events) {
    const of = data as unknown as Data;
    if (type === 'request.built') open = { step: `${of.turn}.${of.step}`, attempt: 1 };
    if (type === 'request.sent') open = { step: `${of.turn}.${of.step}`, attempt: of.attempt };
    if (type === 'driver.changed') close({ end: 'process lost', billed: 'maybe' });
    if (type === 'response.received') close({ end: 'answered', billed: 'yes' }, of);
    if (type === 'request.failed')
      close({ end: of.problem?.kind ?? '', billed: of.maybeBilled === true ? 'maybe' : 'no' }, of);
  }
  return found;
};

const dollars = (value: number): string => `$${value.toFixed(4)}`;
const tokensIn = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite;

const drawAttempts = (attempts: readonly Attempt[], findings: Findings): void => {
  const rows = attempts.map(({ step, attempt, end, billed, usage: used, cost }) => [
    step,
    `${attempt}`,
    end,
    used ? `${tokensIn(used)}` : '-',
    used ? `${used.output}` : '-',
    cost === undefined ? { yes: 'unknown', maybe: 'may be billed', no: 'nothing' }[billed] : dollars(cost),
  ]);
  findings.piece(
    'attempts',
    textTable([['step', 'attempt', 'how it ended', '>tokens in', '>out', '>cost'], ...rows]),
  );
};

const WORDS: Readonly<Record<Class, string>> = {
  input: 'input, uncached',
  cacheRead: 'read from a cache',
  cacheWrite: 'written to a cache',
  output: 'output',
};

const sumOf = (attempts: readonly Attempt[], one: Class): number =>
  attempts.reduce((sum, { usage: used }) => sum + (used?.[one] ?? 0), 0);

const priceOf = (tokens: number, one: Class): number => (tokens * RATES[one]) / MILLION;

const billOf = (attempts: readonly Attempt[]): number =>
  CLASSES.reduce((sum, one) => sum + priceOf(sumOf(attempts, one), one), 0);

const drawBill = (attempts: readonly Attempt[], findings: Findings): void => {
  const rows = CLASSES.map((one) => {
    const tokens = sumOf(attempts, one);
    return [WORDS[one], `${tokens}`, `$${RATES[one].toFixed(2)}`, dollars(priceOf(tokens, one))];
  });
  const known = billOf(attempts);
  findings.piece(
    'bill',
    textTable([
      ['class', '>tokens', '>a million', '>cost'],
      ...rows,
      ['what is known', '', '', dollars(known)],
      ['what may come on top', '', '', dollars(mostOf(attempts))],
    ]),
  );
};

/** If every lost attempt had been billed like the answer that took its place. */
const mostOf = (attempts: readonly Attempt[]): number =>
  attempts
    .filter(({ billed, cost }) => billed === 'maybe' && cost === undefined)
    .reduce(
      (sum, { step }) => sum + (attempts.find((one) => one.step === step && one.billed === 'yes')?.cost ?? 0),
      0,
    );

const waits = (attempts: readonly Attempt[]): string =>
  `${textTable([
    ['step', 'attempt', '>first token ms', '>whole answer ms'],
    ...attempts
      .filter(({ billed }) => billed === 'yes')
      .map(({ step, attempt, firstTokenMs, ms }) => [step, `${attempt}`, `${firstTokenMs}`, `${ms}`]),
  ])}\n`;

type Told = {
  readonly attempts: readonly Attempt[];
  /** What the door says of the same session. */
  readonly total: { readonly cost: number | null; readonly knownCost: number; readonly maybeBilled: number };
  /** Requests that came to the provider. */
  readonly sent: number;
};

/** Far below any price: sums of fractions. */
const SAME_USD = 1e-9;

const claims = ({ attempts, total, sent }: Told, findings: Findings): void => {
  const answered = attempts.filter(({ billed }) => billed === 'yes');
  const lost = attempts.filter(({ billed }) => billed === 'maybe');
  findings.figure(`${sent} requests`);
  findings.figure(`${answered.length} answers`);
  findings.figure(`${attempts.filter(({ attempt }) => attempt > 1).length} of ${sent}`);
  findings.figure(`${lost.length} lost`);
  findings.shown(
    'every request that came to the provider is on record',
    'its count beside the record’s',
    () => equal(attempts.length, sent),
  );
  findings.shown('the bill is tokens times rates', 'added up here, and as the door says it', () =>
    ok(Math.abs(billOf(attempts) - total.knownCost) < SAME_USD),
  );
  findings.shown(
    'the door names no sum while a part of it is unknown',
    'GET /costs: cost null, and a count',
    () => {
      equal(total.cost, null);
      equal(total.maybeBilled, lost.length);
    },
  );
  findings.shown('a refusal by the provider costs nothing', 'the attempt that was rate-limited', () =>
    equal(attempts.filter(({ billed }) => billed === 'no').length, 1),
  );
  findings.shown(
    'a first token is never before the provider gave it',
    `at least ${FIRST_MS} ms, at most the whole answer`,
    () => {
      for (const { firstTokenMs = 0, ms = 0 } of answered)
        ok(firstTokenMs >= FIRST_MS - 1 && firstTokenMs <= ms);
    },
  );
  findings.notShown('what the two lost attempts really cost', 'only the provider’s own bill says it');
  findings.notShown('how long people waited', 'their waiting begins before the record’s');
};

export const note: Note = { number: 6, name: NAME, run };
