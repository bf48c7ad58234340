/**
 * One process of the measurement of waiting sessions. Usage: waiting-process.ts fill STORE COUNT, or hold STORE.
 * `fill` leaves so many sessions that wait for a person, with a week to decide. `hold` opens a runtime over them as a
 * server does, and prints what that cost, as JSON.
 */
import {
  defineAgent,
  openRuntime,
  scriptedModel,
  SqliteLog,
  tool,
  type Agent,
  type Runtime,
} from '../src/index.ts';

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Sessions that are filled in side by side. */
const FILL_AT_ONCE = 100;
const SWEEPS = 30;
const DECISIONS = 50;
/** How long the process does nothing while its CPU time is measured. */
const IDLE_MS = 5000;

export type Held = {
  readonly openMs: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly sweepMs: readonly number[];
  readonly decideMs: readonly number[];
  readonly idleCpuMs: number;
  readonly idleMs: number;
  readonly rssAfterMb: number;
};

let started = (): void => undefined;

const agent: Agent = defineAgent({
  name: 'clerk',
  instructions: 'Pay what is due.',
  model: scriptedModel({
    name: 'clerk',
    steps: [{ calls: [{ tool: 'pay', args: { to: 's-1', amount: 100 } }] }, { text: 'Paid.' }],
  }),
  tools: [
    tool({
      name: 'pay',
      description: 'Pays an invoice.',
      inputSchema: { type: 'object' },
      effect: 'once',
      preview: () => ({
        title: 'Pay 100 to s-1',
        blocks: [{ kind: 'text', title: 'invoice', text: 'line\n'.repeat(40) }],
      }),
      execute: () => {
        started();
        return 'paid';
      },
    }),
  ],
  policy: { ask: { by: ['role:clerk'], expiresMs: WEEK_MS }, rules: [] },
});

const mb = (bytes: number): number => bytes / 2 ** 20;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const fill = async (file: string, count: number): Promise<void> => {
  const runtime = await openRuntime({
    store: new SqliteLog(file, { durability: 'normal' }),
    agents: [agent],
  });
  for (let from = 0; from < count; from += FILL_AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(FILL_AT_ONCE, count - from) }, async (_, i) => {
        const { session } = await runtime.send({ agent: 'clerk', message: 'Pay.', key: `pay-${from + i}` });
        await runtime.rest(session);
      }),
    );
  await runtime.close();
};

/** From the moment that a decision is handed over to the moment that the tool begins. */
const decisionToStart = async (runtime: Runtime, session: string): Promise<number> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  started = resolve;
  const digest =
    (await runtime.store.read(session)).length > 0
      ? (await runtime.state(session)).active?.calls[0]?.digest
      : undefined;
  if (!digest) throw new Error(`${session} does not wait`);
  const by = { kind: 'person', name: 'ada', roles: ['clerk'] } as const;
  const took = await timed(async () => {
    await runtime.decide({ session, call: '1.1.1', digest, decision: { do: 'approve' }, by });
    await promise;
  });
  await runtime.rest(session);
  return took;
};

const memory = (): { readonly rss: number; readonly heap: number } => {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: mb(rss), heap: mb(heapUsed) };
};

const idle = async (): Promise<number> => {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const hold = async (file: string): Promise<Held> => {
  const store = new SqliteLog(file);
  let runtime: Runtime | undefined;
  const openMs = await timed(async () => (runtime = await openRuntime({ store, agents: [agent] })));
  if (!runtime) throw new Error('the runtime is open');
  const { rss, heap } = memory();
  const sweepMs: number[] = [];
  for (let i = 0; i < SWEEPS; i++) sweepMs.push(await timed(() => (runtime as Runtime).sweep()));
  const idleCpuMs = await idle();
  const rows = await runtime.sessions({ status: ['waiting'], limit: DECISIONS });
  const decideMs: number[] = [];
  for (const { session } of rows) decideMs.push(await decisionToStart(runtime, session));
  const { rss: rssAfterMb } = memory();
  await runtime.close();
  return { openMs, rssMb: rss, heapMb: heap, sweepMs, decideMs, idleCpuMs, idleMs: IDLE_MS, rssAfterMb };
};

const [kind, file = '', count = '0'] = process.argv.slice(2);
if (kind === 'fill') await fill(file, Number(count));
else process.stdout.write(JSON.stringify(await hold(file)));
