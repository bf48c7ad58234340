/**
 * node scripts/golden.ts     records the golden logs of this version that are not there yet
 *
 * One log for each shape that a session can have, from the simulator and the examples, with made-up data. What a
 * version has recorded is never recorded again: a later version has to read and replay it as it is.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exampleAgents } from '../examples/agents.ts';
import { makerOf } from '../src/event/call-id.ts';
import { open } from '../src/event/envelope.ts';
import type { EventType, LogEvent } from '../src/event/events.ts';
import {
  defineAgent,
  MemoryLog,
  openRuntime,
  rehearse,
  scriptedModel,
  tool,
  type Agent,
  type Limits,
  type LogStore,
  type Script,
} from '../src/index.ts';
import { Simulation } from '../src/suite/simulation/simulate.ts';
import { LOST_MAX } from '../src/worker/parking.ts';
import { PROGRAM, VERSION } from '../src/worker/program.ts';
import { fromPeople } from './golden-people.ts';
import { GOLDEN, goldenText } from '../test/kit/golden.ts';

/** Histories that are looked at; of those that fit the shortest is kept. */
const SEEDS = 600;

type Has = (events: readonly LogEvent[]) => boolean;

const has =
  (...types: readonly EventType[]): Has =>
  (events) =>
    types.every((type) => events.some((event) => event.type === type));

const some =
  <T extends EventType>(type: T, fits: (data: Extract<LogEvent, { type: T }>['data']) => boolean): Has =>
  (events) =>
    events.some((event) => event.type === type && fits(event.data as never));

const all =
  (...tests: readonly Has[]): Has =>
  (events) =>
    tests.every((test) => test(events));

/** Shapes that the simulator has, by name; `shape` says in words what is in it. */
const SIMULATED: Readonly<Record<string, { readonly shape: string; readonly has: Has }>> = {
  finished: {
    shape: 'a turn of several steps that is done',
    has: all(
      has('call.prepared'),
      some('turn.ended', ({ outcome }) => outcome === 'done'),
      (events) => events.filter(({ type }) => type === 'request.built').length > 2,
    ),
  },
  'calls-of-a-call': {
    shape: 'a call makes calls: one was asked about, and the process was lost in between',
    has: all(
      has('call.suspended'),
      some(
        'approval.decided',
        ({ call, decision }) => makerOf(call) !== undefined && decision.do === 'approve',
      ),
      some('call.retry', ({ call }) => makerOf(call) !== undefined),
      some('turn.ended', ({ outcome }) => outcome === 'done'),
    ),
  },
  rejected: {
    shape: 'a person rejected a call',
    has: some('approval.decided', ({ decision }) => decision.do === 'reject'),
  },
  edited: {
    shape: 'a person changed the arguments of a call',
    has: some('approval.decided', ({ decision }) => decision.do === 'edit'),
  },
  answered: {
    shape: 'a person gave the result of a call',
    has: some('approval.decided', ({ decision }) => decision.do === 'respond'),
  },
  cancelled: {
    shape: 'a turn was cancelled, with a receipt',
    has: all(
      has('turn.cancel_requested', 'call.cancelled'),
      some('turn.ended', ({ receipt }) => (receipt?.stopped.length ?? 0) > 0),
    ),
  },
  'cancelled-in-doubt': {
    shape: 'a cancel left a call in doubt',
    has: some('turn.ended', ({ receipt }) => (receipt?.inDoubt.length ?? 0) > 0),
  },
  faulted: {
    shape: 'model requests failed and were sent again',
    has: has('request.failed', 'request.retry', 'request.sent'),
  },
  'process-lost': {
    shape: 'a process was lost and another went on',
    has: has('driver.changed', 'call.retry'),
  },
  'settled-happened': {
    shape: 'a call in doubt had happened',
    has: some('call.settled', ({ settlement }) => settlement.answer === 'happened'),
  },
  'settled-not-happened': {
    shape: 'a call in doubt had not happened and ran',
    has: some('call.settled', ({ settlement }) => settlement.answer === 'not-happened'),
  },
  'given-up': {
    shape: 'a call in doubt was given up',
    has: some('call.settled', ({ settlement }) => settlement.answer === 'give-up'),
  },
  reconciled: { shape: 'a tool was asked what had become of a call', has: has('call.reconciled') },
  late: { shape: 'results came after they were given up', has: has('call.late') },
  'unusable-calls': {
    shape: 'calls that could not be used',
    has: all(
      has('call.rejected'),
      some('call.failed', () => true),
    ),
  },
  'queued-turns': {
    shape: 'turns that waited for each other',
    has: all(
      has('request.built'),
      (events) => events.filter(({ type }) => type === 'turn.accepted').length > 2,
    ),
  },
};

const CHECKOUT = join(import.meta.dirname, '..');
const folder = join(GOLDEN, VERSION);

const write = async (name: string, store: LogStore, session: string, shape: string): Promise<void> => {
  const path = join(folder, `${name}.jsonl`);
  if (existsSync(path)) return say(`  there already   ${name}`);
  const text = await goldenText(store, session, { program: PROGRAM, shape });
  // A stack trace would name this machine's folders.
  if (text.includes(CHECKOUT) || text.includes('node:internal'))
    throw new Error(`The log ${name} names a folder of this machine.`);
  writeFileSync(path, text);
  say(`  ${String(Buffer.byteLength(text)).padStart(7)} bytes   ${name}: ${shape}`);
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type Found = { readonly store: MemoryLog; readonly session: string; readonly size: number };

/** The forks of the simulator are in the same store as their parents. */
const FORKED = 'forked';

const fromSimulator = async (): Promise<void> => {
  const best = new Map<string, Found>();
  const offer = (name: string, store: MemoryLog, session: string): void => {
    const size = store.peek(session).reduce((sum, { body }) => sum + body.length, 0);
    if (size < (best.get(name)?.size ?? Infinity)) best.set(name, { store, session, size });
  };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const simulation = new Simulation(seed);
    await simulation.run();
    const { log, session } = simulation;
    const events = log.peek(session).map((stored) => open(stored));
    for (const [name, shape] of Object.entries(SIMULATED)) if (shape.has(events)) offer(name, log, session);
    const [fork] = await log.sessions({ forkOf: session });
    const forked = fork && log.peek(fork.session).map((stored) => open(stored));
    if (fork && forked && isForked(forked)) offer(FORKED, log, fork.session);
  }
  for (const [name, { shape }] of Object.entries(SIMULATED)) {
    const found = best.get(name);
    if (!found) throw new Error(`No history of ${SEEDS} has the shape ${name}.`);
    await write(name, found.store, found.session, shape);
  }
  const fork = best.get(FORKED);
  if (!fork) throw new Error('No fork has closed anything.');
  await write(FORKED, fork.store, fork.session, 'a fork that left calls behind, some of them started');
};

const isForked: Has = all(
  some('call.cancelled', ({ fork }) => fork === 'unknown'),
  some('call.cancelled', ({ fork }) => fork === 'not-run'),
);

/** The examples at their own jobs, everything approved; of the last one a rehearsal beside it. */
const fromExamples = async (): Promise<void> => {
  const scratch = mkdtempSync(join(tmpdir(), 'onrecord-golden-'));
  try {
    for (const agent of exampleAgents(join(scratch, 'desks'))) {
      const store = new MemoryLog();
      const session = await job(store, agent);
      const { name } = agent.definition;
      await write(name, store, session, `the ${name} at its job`);
      if (name !== 'research-assistant') continue;
      const { kept } = await rehearse({ store, session, agent, keep: true });
      if (kept !== undefined) await write('rehearsal', store, kept, `a rehearsal of the ${name}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const MESSAGES: Readonly<Record<string, string>> = {
  'inbox-assistant':
    'Halden cannot make Thursday. Move the review, draft the reply, note it on their file. Do not send anything.',
  'bookkeeping-clerk':
    'Brandl Metall charges 20 % since July, but B-10442 and B-10467 stand in the ledger with 10 %. Check the rule and put them right.',
  'research-assistant':
    'What grants are there for replacing the gas boiler in our workshop, and until when? Write a summary.',
};

const job = async (store: LogStore, agent: Agent): Promise<string> => {
  const runtime = await openRuntime({ store, agents: [agent], drive: false });
  const { session } = await runtime.send({
    agent: agent.definition.name,
    message: MESSAGES[agent.definition.name] ?? '',
    key: 'golden',
  });
  for (;;) {
    const { approvals } = await runtime.rest(session);
    if (approvals.length === 0) break;
    const { active } = await runtime.state(session);
    for (const { id, digest, phase } of active?.calls ?? [])
      if (phase === 'asking' && digest)
        await runtime.decide({ session, call: id, digest, decision: { do: 'approve' } });
  }
  await runtime.close();
  return session;
};

const agentOf = (instructions: string): Agent =>
  defineAgent({
    name: 'clerk',
    instructions,
    model: scriptedModel({
      name: 'golden',
      steps: [
        { text: 'Done once.' },
        { calls: [{ tool: 'file', args: { name: 'nowhere' } }] },
        { text: 'It cannot be filed.' },
      ],
    }),
    tools: [
      tool({
        name: 'file',
        description: 'Files a paper.',
        inputSchema: { type: 'object' },
        preview: () => {
          throw new Error('there is no such drawer');
        },
        execute: () => 'filed',
      }),
    ],
  });

/** A session that goes on with a newer definition of its agent, and a tool that refuses by its preview. */
const fromUpgrade = async (): Promise<void> => {
  const store = new MemoryLog();
  const first = await openRuntime({ store, agents: [agentOf('Be exact.')], drive: false });
  const { session } = await first.send({ agent: 'clerk', message: 'Begin.', key: 'golden' });
  await first.rest(session);
  await first.close();
  const second = await openRuntime({ store, agents: [agentOf('Be brief.')], drive: false });
  await second.send({ session, message: 'File it.', key: 'golden-2' });
  await second.rest(session);
  await second.close();
  await write('upgraded', store, session, 'a newer definition took over, and a preview refused a call');
};

/** Ends that the simulator does not come to. */
const SCRIPTED: Readonly<
  Record<
    string,
    { readonly shape: string; readonly steps: Script['steps']; readonly limits?: Partial<Limits> }
  >
> = {
  failed: {
    shape: 'a turn that failed at its model, and one that went on after it',
    steps: [
      { error: { kind: 'overloaded', message: 'Too many.' } },
      { error: { kind: 'authentication', message: 'The key is not known.', status: 401 } },
      { text: 'Here again.', reasoning: 'It works now.', cost: 0.01 },
    ],
  },
  declined: {
    shape: 'a model that declined',
    steps: [{ text: 'No.', stop: 'refusal', stopDetail: 'harm' }, { text: 'Yes.' }],
  },
  stopped: {
    shape: 'a turn that a limit stopped',
    steps: [{ calls: [{ tool: 'look' }] }, { calls: [{ tool: 'look' }] }, { text: 'Enough.' }],
    limits: { stepsPerTurn: 1 },
  },
};

const fromScripts = async (): Promise<void> => {
  for (const [name, { shape, steps, limits = {} }] of Object.entries(SCRIPTED)) {
    const store = new MemoryLog();
    const look = tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      effect: 'none',
      execute: () => ({ seen: [1, 2] }),
    });
    const model = scriptedModel({ name: 'golden', steps });
    const agent = defineAgent({ name: 'clerk', instructions: 'Be exact.', model, tools: [look], limits });
    const runtime = await openRuntime({ store, agents: [agent], drive: false });
    const { session } = await runtime.send({ agent: 'clerk', message: 'Begin.', key: 'golden' });
    await runtime.rest(session);
    await runtime.send({ session, message: 'Go on.', key: 'golden-2' });
    await runtime.rest(session);
    await runtime.close();
    await write(name, store, session, shape);
  }
};

/** A session that took one driver after the other down before they had said anything, until somebody unparked it. */
const fromLosses = async (): Promise<void> => {
  const store = new MemoryLog();
  const model = scriptedModel({ name: 'golden', steps: [{ text: 'Here after all.' }] });
  const agent = defineAgent({ name: 'clerk', instructions: 'Be exact.', model, tools: [] });
  const runtime = await openRuntime({ store, agents: [agent], drive: false });
  const { session } = await runtime.send({ agent: 'clerk', message: 'Begin.', key: 'golden' });
  const owner = { id: 'lost', host: 'elsewhere', boot: '', pid: 1, started: '' };
  for (let lost = 0; lost <= LOST_MAX; lost++)
    await store.claim({ session, owner, now: 0, leaseMs: 1, isGone: () => true });
  await runtime.rest(session);
  await runtime.unpark(session, { reason: 'more memory' });
  await runtime.rest(session);
  await runtime.close();
  await write('parked', store, session, 'parked after its drivers were lost, and unparked');
};

mkdirSync(folder, { recursive: true });
await fromSimulator();
await fromExamples();
await fromUpgrade();
await fromScripts();
await fromLosses();
for (const { name, store, session, shape } of await fromPeople()) await write(name, store, session, shape);
