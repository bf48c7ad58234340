/**
 * Three workers on one database, killed and frozen at random, while people send, approve and settle. When all is healed,
 * every session has to come to its end, and the invariants have to hold (check.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { PostgresLog } from '../../src/log/postgres.ts';
import { migrateJobs } from '../../src/log/postgres-jobs.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { PostgresServer } from '../kit/postgres-server.ts';
import { ASK, chaosAgent, deedsIn } from './agent.ts';
import { checkAll, type Checked } from './check.ts';
import { ChaosWorker, workerProgram } from './workers.ts';

export type ChaosOptions = {
  readonly seed: number;
  readonly seconds: number;
  readonly sessions: number;
  readonly workers?: number;
  /** A bug in the workers, to be found. */
  readonly plant?: 'fencing';
  /** The checkout whose worker is run: a copy of this one with another bug in it. */
  readonly root?: string;
  readonly say?: (line: string) => void;
};

export type Chaos = Checked & {
  readonly kills: number;
  readonly freezes: number;
  readonly approvals: number;
  readonly settled: number;
  /** Milliseconds from a kill until another worker had the session, in order. */
  readonly takeoverMs: readonly number[];
  /** Those in which no other worker was killed or frozen meanwhile. */
  readonly undisturbedMs: readonly number[];
  /** Milliseconds from a message until a worker had its new session, in order: what a claim takes on this machine. */
  readonly claimMs: readonly number[];
  readonly jobsLeft: number;
  readonly leasesLeft: number;
  /** Rows that still name an owner, whether its lease stands or not. */
  readonly ownersLeft: number;
};

const ROOT = join(import.meta.dirname, '../..');
/** After the last fault everything has to come to its end; this only ends a wait in vain. */
const HEAL_MS = 180_000;
/** On a machine where workers take long to start there are fewer faults in the time: it goes on until there were so many kills. */
const KILLS_MIN = 6;
const LOOK_MS = 25;
/** Longer than a lease: what is frozen so long has been taken over from. */
const FREEZE_LONG_MS = 17_000;

/** Mulberry32: the same faults for the same seed, as far as the machine lets them come at the same moments. */
const dice = (seed: number): (() => number) => {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

const inOrder = (all: readonly { readonly ms: number }[]): readonly number[] =>
  all.map(({ ms }) => ms).toSorted((a, b) => a - b);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const runChaos = async (options: ChaosOptions): Promise<Chaos> => {
  const folder = mkdtempSync(join(tmpdir(), 'onrecord-chaos-'));
  const server = await PostgresServer.start();
  const run = new ChaosRun(options, folder, server);
  try {
    return await run.play();
  } finally {
    await run.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

type Watched = { readonly epoch: number; readonly since: number; readonly isNew: boolean };

class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #folder: string;
  readonly #server: PostgresServer;
  readonly #random: () => number;
  readonly #workers: ChaosWorker[] = [];
  readonly #sessions: string[] = [];
  readonly #watched = new Map<string, Watched>();
  readonly #takeovers: { readonly ms: number; readonly since: number }[] = [];
  readonly #claims: { readonly ms: number }[] = [];
  /** When a worker was killed or frozen, or began to go on. */
  readonly #faultsAt: number[] = [];
  readonly #counts = { kills: 0, freezes: 0, approvals: 0, settled: 0 };
  #url = '';
  #schema = '';
  #client: Client | undefined;
  #runtime: Runtime | undefined;
  #over = false;
  #faults = true;

  constructor(options: ChaosOptions, folder: string, server: PostgresServer) {
    this.#options = options;
    this.#folder = folder;
    this.#server = server;
    this.#random = dice(options.seed);
  }

  async play(): Promise<Chaos> {
    const { seconds, say = () => undefined } = this.#options;
    this.#url = await this.#server.store();
    this.#schema = new URL(this.#url).searchParams.get('schema') ?? '';
    await migrateJobs(this.#url);
    this.#client = new Client({ connectionString: this.#server.url });
    await this.#client.connect();
    const store = await PostgresLog.open(this.#url);
    const agents = [chaosAgent(join(this.#folder, 'world'))];
    this.#runtime = await openRuntime({ store, agents, drive: false });
    for (let n = 0; n < (this.#options.workers ?? 3); n++) this.#start();
    const people = this.#people();
    const takeovers = this.#watchTakeovers();
    const faults = this.#nemesis();
    const sending = this.#send();
    const end = Date.now() + seconds * 1000;
    while (Date.now() < end) {
      await pause(Math.min(10_000, Math.max(1, end - Date.now())));
      say(
        `${Math.round((end - Date.now()) / 1000)} s left: ${this.#sessions.length} sessions, ${this.#counts.kills} kills, ${this.#counts.freezes} freezes, ${this.#takeovers.length} takeovers`,
      );
    }
    await sending;
    this.#faults = false;
    await faults;
    const stuck = await this.#healed();
    this.#over = true;
    await Promise.all([people, takeovers]);
    const left = await this.#left();
    const checked = await checkAll({ store, folder: this.#folder, sessions: this.#sessions });
    const undisturbed = this.#takeovers.filter(
      ({ ms, since }) => !this.#faultsAt.some((at) => at > since && at < since + ms),
    );
    return {
      ...checked,
      ...this.#counts,
      ...left,
      problems: [...stuck, ...checked.problems],
      takeoverMs: inOrder(this.#takeovers),
      undisturbedMs: inOrder(undisturbed),
      claimMs: inOrder(this.#claims),
    };
  }

  async end(): Promise<void> {
    this.#over = true;
    this.#faults = false;
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await this.#runtime?.close({ drainMs: 0 });
    await this.#client?.end();
  }

  #start(): void {
    const { root = ROOT, plant = '' } = this.#options;
    this.#workers.push(new ChaosWorker(workerProgram(root), [this.#url, this.#folder, plant]));
  }

  get #running(): readonly ChaosWorker[] {
    return this.#workers.filter(({ state }) => state === 'running');
  }

  /** Sends them over most of the time, so that there is work for every fault. */
  async #send(): Promise<void> {
    const { sessions, seconds } = this.#options;
    const every = (seconds * 800) / sessions;
    for (let n = 0; n < sessions && !this.#over; n++) {
      const message = n % 2 === 0 ? `${ASK} before you pay.` : 'Pay.';
      const sent = await this.#runtime?.send({
        agent: 'chaos',
        message,
        key: `key-${n}`,
        tenant: `t${n % 5}`,
      });
      if (sent) {
        this.#sessions.push(sent.session);
        this.#watched.set(sent.session, { epoch: 0, since: performance.now(), isNew: true });
      }
      await pause(every * 2 * this.#random());
    }
  }

  /** How many of the faults are kills. Who is not fenced does harm when it goes on. */
  get #kills(): number {
    return this.#options.plant === 'fencing' ? 0.3 : 0.75;
  }

  /** Freezes and kills, a freeze first; never the last one that runs: then there would be nobody to take over. */
  async #nemesis(): Promise<void> {
    while (this.#faults || (this.#counts.kills < KILLS_MIN && !this.#over)) {
      await pause(300 + this.#random() * 1500);
      const victims = this.#running;
      const victim = victims[Math.floor(this.#random() * victims.length)];
      if (!victim || victims.length < 2 || this.#over) continue;
      const fate = this.#random();
      if (this.#counts.freezes > 0 && fate < this.#kills) await this.#killOne(victim);
      else this.#freezeOne(victim);
    }
  }

  async #killOne(victim: ChaosWorker): Promise<void> {
    const { rows } = await this.#database.query<{ name: string; epoch: string }>(
      `SELECT name, epoch FROM ${this.#schema}.session WHERE owner_id = '${victim.owner}' AND can_go_on`,
    );
    await victim.kill();
    this.#counts.kills++;
    const since = performance.now();
    this.#faultsAt.push(since);
    for (const { name, epoch } of rows)
      this.#watched.set(name, { epoch: Number(epoch), since, isNew: false });
    setTimeout(() => !this.#over && this.#start(), 200 + this.#random() * 1000);
  }

  #freezeOne(victim: ChaosWorker): void {
    this.#counts.freezes++;
    this.#faultsAt.push(performance.now());
    victim.freeze();
    const long = this.#random() < (this.#options.plant === 'fencing' ? 0.8 : 0.3);
    setTimeout(
      () => victim.thaw(),
      long ? FREEZE_LONG_MS + this.#random() * 3000 : 200 + this.#random() * 2000,
    );
  }

  /** A session counts as taken over when it has another epoch, or has nothing left to do; a new one when it has one. */
  async #watchTakeovers(): Promise<void> {
    while (!this.#over) {
      await pause(LOOK_MS);
      if (this.#watched.size === 0) continue;
      const names = [...this.#watched.keys()].map((name) => `'${name}'`).join(',');
      const { rows } = await this.#database.query<{ name: string; epoch: string; can_go_on: boolean }>(
        `SELECT name, epoch, can_go_on FROM ${this.#schema}.session WHERE name IN (${names})`,
      );
      for (const { name, epoch, can_go_on: canGoOn } of rows) {
        const watched = this.#watched.get(name);
        if (!watched || (canGoOn && Number(epoch) === watched.epoch)) continue;
        this.#watched.delete(name);
        const ms = performance.now() - watched.since;
        if (watched.isNew) this.#claims.push({ ms });
        else if (canGoOn || Number(epoch) !== watched.epoch)
          this.#takeovers.push({ ms, since: watched.since });
      }
    }
  }

  async #people(): Promise<void> {
    while (!this.#over) {
      await pause(100);
      const rows = (await this.#runtime?.sessions({ status: ['waiting', 'in-doubt'], limit: 500 })) ?? [];
      for (const { session } of rows) await this.#answer(session).catch(refusedOrGone);
      const running =
        (await this.#runtime?.sessions({ status: ['running'], canGoOn: false, limit: 500 })) ?? [];
      for (const { session, summary } of running)
        if (summary.waits?.for === 'unpark') await this.#runtime?.unpark(session).catch(refusedOrGone);
    }
  }

  /** Says the truth, which the world knows, about what is in doubt. */
  async #answer(session: string): Promise<void> {
    const runtime = this.#runtime;
    if (!runtime) return;
    const { active } = await runtime.state(session);
    for (const { id, phase, digest } of active?.calls ?? []) {
      if (phase === 'asking' && digest) {
        await runtime.decide({ session, call: id, digest, decision: { do: 'approve' } });
        this.#counts.approvals++;
      }
      if (phase !== 'in-doubt') continue;
      const done = deedsIn(join(this.#folder, 'world')).some(({ call }) => call === `${session} ${id}`);
      const settlement = done
        ? ({ answer: 'happened', content: [{ type: 'text', text: 'it was done' }] } as const)
        : ({ answer: 'not-happened' } as const);
      await runtime.settle({ session, call: id, settlement });
      this.#counts.settled++;
    }
  }

  /** What has not come to its end in time. */
  async #healed(): Promise<readonly string[]> {
    for (const worker of this.#workers) worker.thaw();
    const end = Date.now() + HEAL_MS;
    for (;;) {
      const rows =
        (await this.#runtime?.sessions({
          status: ['running', 'waiting', 'in-doubt', 'idle'],
          limit: 1000,
        })) ?? [];
      if (rows.length === 0) return [];
      if (Date.now() > end)
        return rows.map(
          ({ session, summary, lease }) =>
            `${session} has not come to its end: ${summary.status}, waits for ${summary.waits?.for}, ${lease ? `held by ${lease.owner.id}` : 'held by nobody'}`,
        );
      await pause(200);
    }
  }

  /** Jobs and leases that nobody needs any more. Longer than a lease stands that nobody renews. */
  async #left(): Promise<Pick<Chaos, 'jobsLeft' | 'leasesLeft' | 'ownersLeft'>> {
    const end = Date.now() + 20_000;
    for (;;) {
      const { rows } = await this.#database.query<{ jobs: string; leases: string; owners: string }>(
        `SELECT (SELECT count(*) FROM ${this.#schema}_jobs.job) AS jobs,
          count(*) FILTER (WHERE lease_until > $1) AS leases, count(*) AS owners
        FROM ${this.#schema}.session WHERE owner_id IS NOT NULL`,
        [Date.now()],
      );
      const left = {
        jobsLeft: Number(rows[0]?.jobs),
        leasesLeft: Number(rows[0]?.leases),
        ownersLeft: Number(rows[0]?.owners),
      };
      if ((left.jobsLeft === 0 && left.leasesLeft === 0) || Date.now() > end) return left;
      await pause(200);
    }
  }

  get #database(): Client {
    if (!this.#client) throw new Error('the run has begun');
    return this.#client;
  }
}

/** Somebody answered first, or the question has lapsed: the next look sees what stands now. */
const refusedOrGone = (error: unknown): void => {
  if (!(error instanceof Error) || !('code' in error)) throw error;
};
