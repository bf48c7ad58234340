/** A rehearsal does nothing in the world, answers from the record, and says where it came out otherwise. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { ApprovalDecision } from '../../src/event/events.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import type { Model } from '../../src/model/model.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { rehearse, type Rehearsal, type RehearseOptions } from '../../src/rehearse/rehearse.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { settings } from '../kit/arbitrary.ts';
import { Play, plan } from '../kit/play.ts';
import { tool as defineTool } from '../../src/tool/tool.ts';
import { ALL_RUN, Stage } from '../kit/stage.ts';

type Says = (turn: number, step: number) => ScriptReply;

const modelOf = (says: Says): Model => {
  const { definition, encoder } = scriptedModel({ name: 'stage', steps: [] });
  return {
    definition,
    encoder,
    send: (request) =>
      scriptedModel({ name: 'one', steps: [says(request.turn, request.step)] }).send({
        ...request,
        modelCall: 1,
      }),
  };
};

type Recorded = { readonly stage: Stage; readonly session: string };

const recorded = async (
  says: Says,
  options: ConstructorParameters<typeof Stage>[0] = {},
): Promise<Recorded> => {
  const stage = new Stage({ says, ...options });
  const runtime = await stage.open();
  const session = await stage.send('The message.');
  await runtime.rest(session);
  return { stage, session };
};

/** Rehearses, and sees to it that neither world nor record have noticed. */
const tried = async (
  { stage, session }: Recorded,
  says: Says,
  options: Partial<RehearseOptions> = {},
): Promise<Rehearsal> => {
  const [log, done] = [await stage.store.read(session), stage.world.executions.length];
  const { definition, tools } = stage.agent;
  const agent = { definition, tools, model: modelOf(says) };
  const found = await rehearse({ store: stage.store, session, agent, ...options });
  expect(await stage.store.read(session)).toEqual(log);
  expect(stage.world.executions).toHaveLength(done + (options.reads === 'run' ? found.ran : 0));
  return found;
};

const one: Says = (_, step) =>
  step === 1
    ? {
        text: 'I do two.',
        cost: 0.5,
        calls: [
          { tool: 'once', args: { n: 1 } },
          { tool: 'none', args: { n: 2, do: 'bytes' } },
        ],
      }
    : { text: 'Done.', cost: 0.25 };

const failing: Says = (_, step) =>
  step === 1 ? { calls: [{ tool: 'once', args: { do: 'fail' } }] } : { text: 'I see.' };

const both: Says = (_, step) =>
  step === 1
    ? {
        calls: [
          { tool: 'none', args: { n: 1 } },
          { tool: 'once', args: { n: 1 } },
        ],
      }
    : { text: 'Done.' };

const asking: Says = (_, step) =>
  step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' };

const chains = (events: readonly { type: string; data: object }[]): unknown[] =>
  events.flatMap(({ type, data }) => (type === 'request.built' && 'chain' in data ? [data.chain] : []));

const decided = async (decision: ApprovalDecision | undefined): Promise<Recorded> => {
  const record = await recorded(asking, { policy: { rules: [] } });
  const { stage, session } = record;
  const [call] = await stage.asking(session, '1.1.1');
  if (call?.digest && decision)
    await stage.runtime.decide({ session, call: call.id, digest: call.digest, decision });
  await stage.runtime.rest(session);
  return record;
};

const otherwise =
  (calls: NonNullable<ScriptReply['calls']>): Says =>
  (turn, step) =>
    step === 1 ? { ...one(turn, step), calls } : { text: 'Ready.', cost: 0.1 };

describe('the same agent', () => {
  test('does and says the same, byte for byte in every request', async () => {
    const record = await recorded(one);
    const found = await tried(record, one, { keep: true });
    expect(found).toMatchObject({
      sameDeeds: true,
      sameWords: true,
      divergence: undefined,
      stopped: undefined,
    });
    expect(found.spent.rehearsed).toMatchObject({ requests: 2, calls: 2, cost: 0.75 });
    expect(found.turns).toEqual([
      {
        turn: 1,
        recorded: { outcome: 'done', reason: undefined, steps: 2, answer: 'Done.' },
        rehearsed: { outcome: 'done', reason: undefined, steps: 2, answer: 'Done.' },
      },
    ]);
    const events = (await record.stage.store.read(record.session)).map(open);
    expect(chains(found.events)).toEqual(chains(events));
  });

  test('other words alone are no other deed', async () => {
    const record = await recorded(one);
    const found = await tried(record, (turn, step) => ({ ...one(turn, step), text: 'Otherwise put.' }));
    expect(found).toMatchObject({ sameDeeds: true, sameWords: false });
  });

  test('inputs are said again in order, each when the turn before is over', async () => {
    const record = await recorded(one);
    await record.stage.runtime.send({ session: record.session, message: 'The second.' });
    await record.stage.runtime.rest(record.session);
    const found = await tried(record, one);
    expect(found.turns).toHaveLength(2);
    expect(found.sameDeeds).toBe(true);
  });

  test('a failure is served as a failure', async () => {
    const found = await tried(await recorded(failing), failing);
    expect(found.sameDeeds).toBe(true);
    expect(found.events.find(({ type }) => type === 'call.failed')?.data).toMatchObject({
      code: 'world-said-no',
    });
  });
});

describe('a divergence', () => {
  test('is the first one, with its place in both logs, its path and both values', async () => {
    const record = await recorded(one);
    const says = otherwise([
      { tool: 'once', args: { n: 1 } },
      { tool: 'none', args: { n: 3 } },
    ]);
    const found = await tried(record, says, { missing: 'stub' });
    expect(found.divergence).toMatchObject({
      turn: 1,
      step: 1,
      seq: { recorded: 4, rehearsed: 4 },
      path: '/calls/1/args/do',
      recorded: 'bytes',
      rehearsed: undefined,
    });
    expect(found.otherArguments).toMatchObject([
      { tool: 'none', recorded: { id: '1.1.2' }, rehearsed: { id: '1.1.2' } },
    ]);
    expect(found).toMatchObject({ onlyRecorded: [], onlyRehearsed: [], stubbed: 1 });
    expect(found.spent).toMatchObject({ recorded: { cost: 0.75 }, rehearsed: { cost: 0.6 } });
  });

  test('calls that only one of them made are named', async () => {
    const record = await recorded(one);
    const found = await tried(record, otherwise([{ tool: 'idempotent', args: { n: 9 } }]), {
      missing: 'stub',
    });
    expect(found.onlyRecorded.map(({ tool }) => tool)).toEqual(['once', 'none']);
    expect(found.onlyRehearsed.map(({ tool }) => tool)).toEqual(['idempotent']);
  });

  test('another policy diverges where it judges otherwise', async () => {
    const record = await recorded(one);
    const { definition } = record.stage.agent;
    const denies = {
      ...definition,
      policy: { rules: [{ id: 'no', effects: ['once' as const], do: 'deny' as const }] },
    };
    const found = await tried(record, one, { agent: { definition: denies, model: modelOf(one) } });
    expect(found.divergence).toMatchObject({
      path: '/calls/0/verdict',
      recorded: 'run',
      rehearsed: 'denied-by-policy',
    });
  });

  test('an agent without a tool is told so, and may do otherwise', async () => {
    const record = await recorded(one);
    const { definition } = record.stage.agent;
    const fewer = { ...definition, tools: definition.tools.filter(({ name }) => name !== 'once') };
    const found = await tried(record, one, { agent: { definition: fewer, model: modelOf(one) } });
    expect(found.divergence).toMatchObject({ path: '/calls/0/verdict', rehearsed: 'unknown-tool' });
  });
});

describe('a call that is not in the record', () => {
  const effects = otherwise([{ tool: 'once', args: { n: 7 } }]);

  test('ends the rehearsal, and no request follows', async () => {
    const found = await tried(await recorded(one), effects);
    expect(found.stopped).toMatchObject({ reason: 'not-in-record', call: { tool: 'once', args: '{"n":7}' } });
    expect(found.spent.rehearsed.requests).toBe(1);
    expect(found.turns[0]?.rehearsed?.outcome).toBe('cancelled');
  });

  test('gets a stub', async () => {
    const found = await tried(await recorded(one), effects, { missing: 'stub' });
    expect(found).toMatchObject({ stopped: undefined, stubbed: 1 });
    expect(found.turns[0]?.rehearsed).toMatchObject({ outcome: 'done', answer: 'Ready.' });
  });

  test('is asked about: a result, a stub or the end', async () => {
    const record = await recorded(one);
    const asked: string[] = [];
    const found = await tried(record, effects, {
      missing: 'ask',
      ask: async ({ tool, args }) => {
        asked.push(`${tool} ${args}`);
        return { do: 'result', text: 'It is seven.' };
      },
    });
    expect(asked).toEqual(['once {"n":7}']);
    expect(found).toMatchObject({ asked: 1, stubbed: 0, stopped: undefined });
    expect(JSON.stringify(found.events)).toContain('It is seven.');
    const ended = await tried(record, effects, { missing: 'ask', ask: async () => ({ do: 'stop' }) });
    expect(ended.stopped?.reason).toBe('not-in-record');
  });

  test('runs only where its tool reads and it was told that reads may run', async () => {
    const record = await recorded(one);
    const reads = otherwise([{ tool: 'none', args: { n: 8 } }]);
    expect((await tried(record, reads)).stopped?.reason).toBe('not-in-record');
    const found = await tried(record, reads, { reads: 'run' });
    expect(found).toMatchObject({ ran: 1, stopped: undefined });
    expect(JSON.stringify(found.events)).toContain('none did 8');
    for (const tool of ['once', 'idempotent', 'reconcilable'])
      expect(
        (await tried(record, otherwise([{ tool, args: { n: 8 } }]), { reads: 'run' })).stopped,
      ).toMatchObject({
        reason: 'not-in-record',
      });
  });

  test('a read says again what it said; an effect does not', async () => {
    const record = await recorded(both);
    const twice =
      (tool: string): Says =>
      (turn, step) =>
        step === 2 ? { calls: [{ tool, args: { n: 1 } }] } : both(turn, step);
    expect((await tried(record, twice('none'))).stopped).toBeUndefined();
    expect((await tried(record, twice('once'))).stopped?.reason).toBe('not-in-record');
  });
});

describe('approvals', () => {
  test.each<[string, ApprovalDecision]>([
    ['approved', { do: 'approve' }],
    ['edited', { do: 'edit', args: '{"n":5}' }],
    ['rejected', { do: 'reject', reason: 'Not this one.' }],
    ['answered', { do: 'respond', content: [{ type: 'text', text: 'By hand.' }] }],
  ])('%s as in the record', async (_, decision) => {
    const found = await tried(await decided(decision), asking);
    expect(found).toMatchObject({ sameDeeds: true, sameWords: true, stopped: undefined });
    const again = found.events.find(({ type }) => type === 'approval.decided');
    expect(again?.data).toMatchObject({ decision });
  });

  test('a policy that asks where the record did not: approved, because the result is at hand', async () => {
    const record = await recorded(asking);
    const definition = { ...record.stage.agent.definition, policy: { rules: [] } };
    const found = await tried(record, asking, { agent: { definition, model: modelOf(asking) } });
    expect(found).toMatchObject({ sameDeeds: false, stopped: undefined });
    expect(found.divergence).toMatchObject({ path: '/calls/0/verdict', recorded: 'run', rehearsed: 'ask' });
    expect(found.turns[0]?.rehearsed?.outcome).toBe('done');
  });

  test('a policy that runs what a person had rejected finds no result in the record', async () => {
    const record = await decided({ do: 'reject' });
    const definition = { ...record.stage.agent.definition, policy: ALL_RUN };
    const found = await tried(record, asking, { agent: { definition, model: modelOf(asking) } });
    expect(found.stopped?.reason).toBe('not-in-record');
  });

  test('a record that waits itself is the end, and no divergence', async () => {
    const found = await tried(await decided(undefined), asking);
    expect(found).toMatchObject({ sameDeeds: true, stopped: { reason: 'record-ends' } });
  });
});

describe('a kept rehearsal', () => {
  test('is a whole record, marked, and no runtime goes on with it', async () => {
    const record = await recorded(one);
    const { stage, session } = record;
    const { kept = '' } = await tried(record, one, { keep: true });
    expect(kept).not.toBe('');
    expect(kept).not.toBe(session);
    const events = (await stage.store.read(kept)).map(open);
    expect(events[0]?.data).toMatchObject({ session: kept, rehearsal: { session } });
    expect((await verify(stage.store, kept)).findings).toEqual([]);
    expect(
      replay({ session: kept, events, encoderOf: () => neutralEncoder, program: 'x' }).difference,
    ).toBeUndefined();
    const refused = { code: 'session-is-rehearsal' };
    await expect(stage.runtime.send({ session: kept, message: 'On.' })).rejects.toMatchObject(refused);
    await expect(stage.runtime.cancel(kept)).rejects.toMatchObject(refused);
    const { session: branch } = await stage.runtime.fork({ session: kept });
    await expect(stage.runtime.send({ session: branch, message: 'On.' })).rejects.toMatchObject(refused);
    expect(await stage.runtime.rest(kept)).toMatchObject({ status: 'done' });
  });

  test('twice kept it is two', async () => {
    const record = await recorded(one);
    const [a, b] = [await tried(record, one, { keep: true }), await tried(record, one, { keep: true })];
    expect(a.kept).not.toBe(b.kept);
  });
});

test('a session without a message cannot be rehearsed; one that is not there neither', async () => {
  const { stage, session } = await recorded(one);
  const { session: empty } = await stage.runtime.fork({ session, at: 1 });
  const agent = { definition: stage.agent.definition, model: modelOf(one) };
  await expect(rehearse({ store: stage.store, session: empty, agent })).rejects.toMatchObject({
    code: 'rehearsal-nothing-to-say',
  });
  await expect(rehearse({ store: stage.store, session: 's_NOBODY', agent })).rejects.toMatchObject({
    code: 'session-not-found',
  });
});

test('an interrupted rehearsal leaves a whole log', async () => {
  const record = await recorded(one);
  const stop = new AbortController();
  const found = await tried(record, one, {
    keep: true,
    signal: stop.signal,
    onEvent: ({ type }) => (type === 'call.started' ? stop.abort() : undefined),
  });
  expect(found.stopped?.reason).toBe('interrupted');
  expect((await verify(record.stage.store, found.kept ?? '')).findings).toEqual([]);
});

test('any session can be rehearsed: nothing is done, and what is kept proves itself and replays', async () => {
  const holds = fc.assert(
    fc.asyncProperty(plan, fc.constantFrom('stop', 'stub'), async (some, missing) => {
      const play = new Play(some);
      try {
        await play.run();
        const { stage, session } = play;
        const found = await tried(
          { stage, session },
          (_, step) => {
            const reply = some.replies[step - 1];
            if (!reply) return { text: 'Done.' };
            return { calls: reply.calls.map(({ tool, n, do: doing }) => ({ tool, args: { n, do: doing } })) };
          },
          { missing, keep: true },
        );
        const kept = found.kept ?? '';
        expect((await verify(stage.store, kept)).findings).toEqual([]);
        const events = (await stage.store.read(kept)).map(open);
        const again = replay({ session: kept, events, encoderOf: () => neutralEncoder, program: 'x' });
        expect(again.difference).toBeUndefined();
        expect(again.state.active).toBeUndefined();
      } finally {
        await play.stage.close();
      }
    }),
    settings({ numRuns: 60 }),
  );
  await expect(holds).resolves.toBeUndefined();
}, 120_000);

const errand: Says = (_, step) =>
  step === 1 ? { calls: [{ tool: 'errand', args: {} }] } : { text: 'Done.' };
const errandTools: NonNullable<ConstructorParameters<typeof Stage>[0]>['tools'] = (world) => [
  world.tool('none', 'none'),
  world.tool('once', 'once'),
  defineTool({
    name: 'errand',
    description: 'Runs an errand.',
    inputSchema: { type: 'object' },
    effect: 'none',
    calls: ['none', 'once'],
    execute: (_, { callTool }) => [callTool('none', { n: 1 }), callTool('once', { n: 2 })],
  }),
];

describe('a call that made calls', () => {
  test('comes out the same: its calls are judged again and served, and nothing runs', async () => {
    const all = await recorded(errand, { tools: errandTools });
    const found = await tried(all, errand);
    expect(found).toMatchObject({ divergence: undefined, stopped: undefined });
    const types = found.events.map(({ type }) => type);
    expect(types.filter((type) => type === 'call.suspended')).toHaveLength(2);
    expect(found.events.filter(({ type }) => type === 'turn.ended')).toMatchObject([
      { data: { outcome: 'done' } },
    ]);
  });

  test('stops where policy denies one of them now: what it would have done then, nobody knows', async () => {
    const all = await recorded(errand, { tools: errandTools });
    const { definition } = all.stage.agent;
    const policy = { rules: [{ id: 'no', tools: ['once'], do: 'deny' as const }] };
    const agent = {
      definition: { ...definition, policy },
      tools: all.stage.agent.tools,
      model: modelOf(errand),
    };
    const found = await rehearse({ store: all.stage.store, session: all.session, agent });
    expect(found.stopped).toMatchObject({ reason: 'not-in-record', call: { id: '1.1.1', tool: 'errand' } });
    expect(all.stage.world.executions).toHaveLength(2);
  });
});
