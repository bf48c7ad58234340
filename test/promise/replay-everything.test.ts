/**
 * Replay is byte-identical over everything that can be produced here: histories of the simulator, every kill of the
 * crash matrix, the examples whatever people answer, and forks of all of them.
 */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { readScenarioFile } from '../../src/cli/suite-file.ts';
import type { ApprovalDecision } from '../../src/index.ts';
import type { LogStore } from '../../src/log/store.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { judge } from '../../src/suite/crash/judge.ts';
import { crashMatrix } from '../../src/suite/crash/matrix.ts';
import type { Played } from '../../src/suite/crash/run.ts';
import { Simulation } from '../../src/suite/simulation/simulate.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { ROOT } from '../cli/project.ts';
import { EXAMPLES, Office, type ExampleName } from '../examples/office.ts';
import { tempFolder } from '../kit/folder.ts';

const SEEDS = 250;
/** The same ones every time: what is rare is not in every range. */
const FROM = Number(process.env['SIMULATE_FROM'] ?? 0);

const seen = { sessions: 0, events: 0, requests: 0 };
afterAll(() =>
  console.info(
    `${seen.sessions} sessions, ${seen.events} events, ${seen.requests} requests, seeds from ${FROM}`,
  ),
);

/** Reads a session from its stored bytes and replays it; answers its events. */
const expectIdentical = async (store: LogStore, session: string): Promise<readonly LogEvent[]> => {
  const events = (await store.read(session)).map(open);
  const found = replay({ session, events, encoderOf: () => neutralEncoder, program: PROGRAM });
  expect([session, found.difference]).toEqual([session, undefined]);
  expect(found.events).toBe(events.length);
  expect(found.requests).toBe(events.filter(({ type }) => type === 'request.built').length);
  expect((await verify(store, session)).findings).toEqual([]);
  seen.sessions++;
  seen.events += events.length;
  seen.requests += found.requests;
  return events;
};

/** What a session has gone through. */
const KINDS: Readonly<Record<string, (event: LogEvent) => boolean>> = {
  finished: (event) => event.type === 'turn.ended' && event.data.outcome === 'done',
  cancelled: (event) => event.type === 'turn.ended' && event.data.outcome === 'cancelled',
  denied: (event) => event.type === 'approval.decided' && event.data.decision.do === 'reject',
  edited: (event) => event.type === 'approval.decided' && event.data.decision.do === 'edit',
  faulted: (event) => event.type === 'request.failed',
  'calls failed': (event) => event.type === 'call.failed',
  'calls rejected': (event) => event.type === 'call.rejected',
  'process lost': (event) => event.type === 'driver.changed',
  'in doubt': (event) => event.type === 'call.doubted',
  settled: (event) => event.type === 'call.settled',
  reconciled: (event) => event.type === 'call.reconciled',
  late: (event) => event.type === 'call.late',
  forked: (event) => event.type === 'session.forked',
  'left behind': (event) => event.type === 'call.cancelled' && event.data.fork !== undefined,
};

test(
  `${SEEDS} histories of the simulator from seed ${FROM}, each with its fork`,
  { timeout: 240_000 },
  async () => {
    const kinds = new Map<string, number>();
    for (let seed = FROM; seed < FROM + SEEDS; seed++) {
      const simulation = new Simulation(seed);
      await simulation.run();
      const { log, session } = simulation;
      const forks = (await log.sessions({ forkOf: session })).map((row) => row.session);
      expect(forks).toHaveLength(1);
      for (const one of [session, ...forks]) {
        const events = await expectIdentical(log, one);
        for (const [kind, fits] of Object.entries(KINDS))
          if (events.some(fits)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
    console.info([...kinds].map(([kind, count]) => `${kind} ${count}`).join(', '));
    expect(Object.keys(KINDS).filter((kind) => !kinds.has(kind))).toEqual([]);
  },
);

const ANSWERS: readonly (readonly [string, ApprovalDecision])[] = [
  ['approved', { do: 'approve' }],
  ['rejected', { do: 'reject', reason: 'Not now.' }],
  ['answered', { do: 'respond', content: [{ type: 'text', text: 'I do it myself.' }] }],
];

describe.each(ANSWERS)('everything %s', { timeout: 120_000 }, (_, decision) => {
  test.each(Object.keys(EXAMPLES) as ExampleName[])('%s, and a fork at each of its events', async (name) => {
    const office = await Office.open(name, { folder: tempFolder() });
    onTestFinished(() => office.close());
    const session = await office.send();
    const tools = new Map(office.agent.definition.tools.map((tool) => [tool.name, decision]));
    await office.answer(session, Object.fromEntries(tools));
    const events = await expectIdentical(office.store, session);
    for (const { seq } of events) {
      const { session: fork } = await office.runtime.fork({ session, at: seq, key: 'k', closeOpen: true });
      const branch = await expectIdentical(office.store, fork);
      expect(branch.some(KINDS['forked'] ?? (() => false))).toBe(true);
    }
  });
});

const endedWith = (unproved: string): Played => ({
  ending: { inDoubt: [], state: '', executions: [], inputs: 1, unproved },
  seen: { boundaries: [], struck: [] },
  unfired: [],
});

test('every kill of the crash matrix: the log proves itself and replays, or the kill is judged wrong', async () => {
  const { results } = await crashMatrix({
    ...readScenarioFile('examples/crash/crash.yaml', ROOT),
    mode: 'simulated',
    twice: false,
  });
  expect(results.length).toBeGreaterThan(40);
  expect(results.filter(({ verdict }) => verdict === 'unproved')).toEqual([]);
  const calm = { played: endedWith(''), planned: false };
  expect(judge(calm, endedWith('replay differs at event 9'), []).verdict).toBe('unproved');
  expect(judge(calm, endedWith(''), []).verdict).toBe('same-end');
}, 120_000);
