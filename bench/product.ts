/** The product at work: SqliteLog with synchronous=FULL unless a store is only being filled, one agent, one tool. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type * as Envelope from '../src/event/envelope.ts';
import type * as Index from '../src/index.ts';
import type { Agent, Runtime } from '../src/index.ts';
import type * as Neutral from '../src/model/neutral.ts';
import type * as Replay from '../src/replay/replay.ts';
import type * as Verify from '../src/replay/verify.ts';
import { BUILD } from './build.ts';
import { madeAgent, type WorkOptions } from './made-agent.ts';
import { answer, commitsOf, cpuMs, StepsWatch, usedBytes } from './probe.ts';
import {
  WARM_STEPS,
  type FillAnswer,
  type ManyAnswer,
  type ReadAnswer,
  type StepsAnswer,
  type Task,
} from './task.ts';
import { QUESTION } from './work.ts';

/** A module of the build that is measured, where one is; of the source as it lies otherwise. */
const load = async <Module>(name: string): Promise<Module> => {
  const build = process.env[BUILD];
  return import(build === undefined ? `../src/${name}.ts` : join(build, `${name}.js`));
};

const { defineAgent, openRuntime, SqliteLog, tool } = await load<typeof Index>('index');
const { neutralEncoder: encoder } = await load<typeof Neutral>('model/neutral');

const workAgent = (options: WorkOptions): Agent => madeAgent({ defineAgent, tool, encoder }, options);

const storePath = (folder: string): string => join(folder, 'log.db');

const bytesIn = (path: string): number => {
  const db = new DatabaseSync(path);
  try {
    return usedBytes(db);
  } finally {
    db.close();
  }
};

/** One session from its message to its rest. */
const runSession = async (runtime: Runtime, agent: Agent): Promise<string> => {
  const { session } = await runtime.send({ agent: agent.definition.name, message: QUESTION });
  const { status } = await runtime.rest(session);
  if (status !== 'done') throw new Error(`The session ended as ${status}.`);
  return session;
};

const runSteps = async ({
  folder,
  steps,
  sessions,
  warm,
}: Task & { kind: 'steps' }): Promise<StepsAnswer> => {
  const path = storePath(folder);
  let target = warm;
  const watch = new StepsWatch(path);
  const agent = workAgent({ steps: () => target, began: (step) => watch.began(step, target) });
  const runtime = await openRuntime({ store: new SqliteLog(path), agents: [agent] });
  await runSession(runtime, agent);
  watch.reset();
  const before = bytesIn(path);
  target = steps;
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let session = 0; session < sessions; session++) await runSession(runtime, agent);
  const ms = performance.now() - start;
  const used = cpuMs(cpu);
  const bytes = bytesIn(path) - before;
  await runtime.close();
  return { ms, cpuMs: used, bytes, ...watch.tell() };
};

const runMany = async (folder: string, sessions: number, steps: number): Promise<ManyAnswer> => {
  const path = storePath(folder);
  let target = WARM_STEPS;
  const agent = workAgent({ steps: () => target });
  const runtime = await openRuntime({ store: new SqliteLog(path), agents: [agent] });
  await runSession(runtime, agent);
  target = steps;
  const before = commitsOf(path);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: sessions }, () => runSession(runtime, agent)));
  const found = { ms: performance.now() - start, cpuMs: cpuMs(cpu), commits: commitsOf(path) - before };
  await runtime.close();
  return found;
};

const fill = async (folder: string, steps: number, killed: boolean): Promise<FillAnswer> => {
  const store = storePath(folder);
  let session = '';
  const agent = workAgent({
    steps: () => (killed ? steps + 1 : steps),
    began: (step) => {
      if (!killed || step < steps) return;
      answer({ store, session } satisfies FillAnswer);
      process.kill(process.pid, 'SIGKILL');
    },
  });
  const log = new SqliteLog(store, { durability: 'normal' });
  const runtime = await openRuntime({ store: log, agents: [agent], drive: false });
  ({ session } = await runtime.send({ agent: agent.definition.name, message: QUESTION }));
  await runtime.rest(session);
  await runtime.close();
  return { store, session };
};

const loadState = async (store: string, session: string): Promise<ReadAnswer> => {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const runtime = await openRuntime({ store: new SqliteLog(store), agents: [], drive: false });
  const { seq } = await runtime.state(session);
  const found = { ms: performance.now() - start, cpuMs: cpuMs(cpu), events: seq };
  await runtime.close();
  return found;
};

const resume = async (store: string, session: string, steps: number): Promise<ReadAnswer> => {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { promise: reached, resolve } = Promise.withResolvers<number>();
  const agent = workAgent({ steps: () => steps + 1, began: resolve });
  const runtime = await openRuntime({ store: new SqliteLog(store), agents: [agent], drive: false });
  const rest = runtime.rest(session);
  const step = await reached;
  const found = { ms: performance.now() - start, cpuMs: cpuMs(cpu), events: step };
  if (step !== steps) throw new Error(`The session went on at step ${step}, not at ${steps}.`);
  await runtime.close({ drainMs: 0 });
  await rest.catch(() => undefined);
  return found;
};

const replayAll = async (store: string, session: string): Promise<ReadAnswer> => {
  const log = new SqliteLog(store);
  const agent = workAgent({ steps: () => 0 });
  const [{ open }, { replay }] = [
    await load<typeof Envelope>('event/envelope'),
    await load<typeof Replay>('replay/replay'),
  ];
  const start = performance.now();
  const cpu = process.cpuUsage();
  const events = (await log.read(session)).map(open);
  const found = replay({ session, events, encoderOf: () => agent.model.encoder, program: 'bench' });
  const used = { ms: performance.now() - start, cpuMs: cpuMs(cpu), events: found.events };
  await log.close();
  if (found.difference) throw new Error(`Replay differs at event ${found.difference.seq}.`);
  return used;
};

const verifyAll = async (store: string, session: string): Promise<ReadAnswer> => {
  const log = new SqliteLog(store);
  const { verify } = await load<typeof Verify>('replay/verify');
  const start = performance.now();
  const cpu = process.cpuUsage();
  const found = await verify(log, session);
  const used = { ms: performance.now() - start, cpuMs: cpuMs(cpu), events: found.events };
  await log.close();
  if (found.findings.length > 0) throw new Error(`Verify finds ${found.findings[0]?.message}`);
  return used;
};

const perform = async (task: Task): Promise<object> => {
  switch (task.kind) {
    case 'steps':
      return runSteps(task);
    case 'many':
      return runMany(task.folder, task.sessions, task.steps);
    case 'fill':
      return fill(task.folder, task.steps, task.killed);
    case 'state':
      return loadState(task.store, task.session);
    case 'resume':
      return resume(task.store, task.session, task.steps);
    case 'replay':
      return replayAll(task.store, task.session);
    case 'verify':
      return verifyAll(task.store, task.session);
    default:
      throw new Error(`The product has no ${task.kind}.`);
  }
};

answer(await perform(JSON.parse(process.argv[2] ?? '{}') as Task));
