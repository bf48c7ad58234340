/**
 * One worker of the bench: `worker-process.ts URL STEPS` drives until it is told to end through stdin; with a third word,
 * "idle", it sweeps a few times over what waits and says what that costs.
 */
import { PostgresLog } from '../src/log/postgres.ts';
import { openRuntime } from '../src/worker/runtime.ts';
import { PgBossDispatcher } from '../src/worker/pg-boss-dispatcher.ts';
import { workAgent } from './agent.ts';

export type Idle = {
  readonly openMs: number;
  readonly rssMb: number;
  readonly sweepMs: readonly number[];
  readonly idleMs: number;
  readonly idleCpuMs: number;
};

const SWEEPS = 10;
const IDLE_MS = 5000;

const [url = '', steps = '1', idle] = process.argv.slice(2);
const began = performance.now();
const runtime = await openRuntime({
  store: await PostgresLog.open(url),
  agents: [workAgent({ steps: () => Number(steps) })],
  dispatcher: new PgBossDispatcher(url),
  isGone: () => false,
});
const openMs = performance.now() - began;

const measured = async (): Promise<Idle> => {
  const sweepMs: number[] = [];
  for (let n = 0; n < SWEEPS; n++) {
    const at = performance.now();
    await runtime.sweep();
    sweepMs.push(performance.now() - at);
  }
  const [cpu, at] = [process.cpuUsage(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { user, system } = process.cpuUsage(cpu);
  return {
    openMs,
    rssMb: process.memoryUsage().rss / 2 ** 20,
    sweepMs,
    idleMs: performance.now() - at,
    idleCpuMs: (user + system) / 1000,
  };
};

process.stdout.write(idle === undefined ? 'ready\n' : `${JSON.stringify(await measured())}\n`);
if (idle === undefined) {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdin.on('end', () => resolve()).resume();
  await promise;
}
await runtime.close({ drainMs: 0 });
