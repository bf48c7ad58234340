/** What requests hold: turns left out, budgets, summaries, and what signed reasoning asks for. */
import { expect, onTestFinished, test } from 'vitest';
import type { Encoder } from '../../src/context/encoding.ts';
import { rebuildAll } from '../../src/context/rebuild.ts';
import type { ResponseBlock } from '../../src/event/content.ts';
import type { ContextPlan } from '../../src/event/definition.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { isOnrecordError } from '../../src/errors.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { nextPlan, sentPlan } from '../../src/view/request-plan.ts';
import { FakeClock, passTime, seededRandom } from '../kit/clock.ts';
import { ALL_RUN, Stage } from '../kit/stage.ts';
import { World } from '../kit/world.ts';

type Options = {
  readonly context?: ContextPlan;
  readonly instructions?: string;
  /** The largest body that the provider takes. */
  readonly bytesMax?: number;
  /** What the model answers to the nth request of a session, from 1. */
  readonly says?: (body: string, asked: number) => Partial<Extract<ModelReply, { kind: 'response' }>>;
};

class Desk {
  readonly clock: FakeClock = new FakeClock();
  readonly world: World = new World(this.clock);
  readonly store: MemoryLog = new MemoryLog();
  readonly bodies: string[] = [];
  readonly encoder: Encoder;
  readonly #agent: Agent;
  #runtime: Runtime | undefined;
  #opened = 4;
  session = '';

  private constructor({ context, instructions = 'Be exact.', bytesMax, says = () => ({}) }: Options) {
    this.encoder = { ...neutralEncoder, ...(bytesMax !== undefined && { bytesMax }) };
    this.#agent = defineAgent({
      name: 'clerk',
      instructions,
      model: this.#model(says),
      tools: [this.world.tool('none', 'none'), this.world.tool('once', 'once')],
      policy: ALL_RUN,
      ...(context && { context }),
    });
  }

  static async open(options: Options = {}): Promise<Desk> {
    const desk = new Desk(options);
    await desk.restart();
    onTestFinished(() => desk.close());
    return desk;
  }

  /** Another process takes over. */
  async restart(): Promise<void> {
    if (this.#runtime) await this.close();
    const { store, clock } = this;
    const random = seededRandom(++this.#opened);
    this.#runtime = await openRuntime({ store, agents: [this.#agent], clock, random });
  }

  #model(says: NonNullable<Options['says']>): Model {
    return {
      definition: { provider: 'test', name: 'reader', params: {} },
      encoder: this.encoder,
      send: async (request) => {
        const body = request.body();
        this.bodies.push(body);
        return {
          kind: 'response',
          stop: 'end',
          content: [{ type: 'text', text: `Answer ${this.bodies.length}.` }],
          usage: { cacheRead: 0, cacheWrite: 0, input: Math.ceil(body.length / 4), output: 5 },
          cost: 0,
          ...says(body, this.bodies.length),
        };
      },
    };
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('no runtime is open');
    return this.#runtime;
  }

  async close(): Promise<void> {
    const closed = this.runtime.close({ drainMs: 0 });
    this.clock.advance(0);
    await closed;
  }

  async say(message: string): Promise<string> {
    const where = this.session === '' ? { agent: 'clerk' } : { session: this.session };
    this.session = (await this.runtime.send({ ...where, message })).session;
    await passTime(this.clock, 1000, this.runtime.rest(this.session));
    return this.bodies.at(-1) ?? '';
  }

  async events(): Promise<readonly LogEvent[]> {
    return (await this.store.read(this.session)).map(open);
  }
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (isOnrecordError(error)) return error.code;
    throw error;
  }
};

const turnsIn = (body: string): readonly number[] =>
  [...body.matchAll(/"Message (\d+)/g)].map(([, turn]) => Number(turn));

const WORDS = 'and some more words to make it long, '.repeat(6);

test('a-turn-left-out is not in later requests, is taken back, and the log has it all along', async () => {
  const desk = await Desk.open();
  for (const n of [1, 2, 3]) await desk.say(`Message ${n}.`);
  await desk.runtime.select(desk.session, { do: 'leave-out', turns: [2] }, { reason: 'old news' });
  expect(turnsIn(await desk.say('Message 4.'))).toEqual([1, 3, 4]);
  const built = (await desk.events()).findLast((event) => event.type === 'request.built');
  expect(built?.data).toMatchObject({
    selection: { out: [{ from: 2, to: 2, why: 'by-hand' }] },
    // The first turn, its answer; what follows is made anew.
    reuse: { parts: 2 },
  });
  expect(turnsIn(await desk.say('Message 5.'))).toEqual([1, 3, 4, 5]);
  const next = (await desk.events()).findLast((event) => event.type === 'request.built');
  expect(next?.data).not.toHaveProperty('selection');
  await desk.runtime.select(desk.session, { do: 'take-back', turns: [2] });
  expect(turnsIn(await desk.say('Message 6.'))).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await desk.events()).filter((event) => event.type === 'turn.accepted')).toHaveLength(6);
});

test('last-turns and a budget leave out the oldest, a pinned turn stays', async () => {
  const desk = await Desk.open({ context: { select: { kind: 'last-turns', turns: 2 } } });
  for (const n of [1, 2, 3]) await desk.say(`Message ${n}.`);
  expect(turnsIn(desk.bodies.at(-1) ?? '')).toEqual([2, 3]);
  await desk.runtime.select(desk.session, { do: 'pin', turns: [1] });
  expect(turnsIn(await desk.say('Message 4.'))).toEqual([1, 3, 4]);
  await desk.runtime.select(desk.session, { do: 'policy', policy: { kind: 'budget', tokens: 400 } });
  for (const n of [5, 6, 7, 8]) await desk.say(`Message ${n} ${WORDS}.`);
  const turns = turnsIn(desk.bodies.at(-1) ?? '');
  expect(turns).toContain(1);
  expect(turns).toContain(8);
  expect(turns.length).toBeLessThan(8);
  for (const body of desk.bodies) expect(body.length / 4).toBeLessThan(440);
});

test('a-budget-leaves-room: not every turn breaks the prefix again', async () => {
  const desk = await Desk.open({ context: { select: { kind: 'budget', tokens: 600 } } });
  for (let n = 1; n <= 12; n++) await desk.say(`Message ${n} ${WORDS}.`);
  const built = (await desk.events()).filter((event) => event.type === 'request.built');
  const changed = built.filter((event) => event.data.selection);
  expect(changed.length).toBeGreaterThan(1);
  expect(changed.length).toBeLessThan(6);
});

test('what-is-fixed-and-too-large is said at once: nothing is sent, the turn ends by name', async () => {
  const desk = await Desk.open({
    instructions: WORDS.repeat(20),
    context: { select: { kind: 'budget', tokens: 100 } },
  });
  await desk.say('Message 1.');
  expect(desk.bodies).toEqual([]);
  const [refused, ended] = (await desk.events()).slice(-2);
  expect(refused).toMatchObject({
    type: 'request.refused',
    data: { code: 'context-too-large', outcome: 'failed' },
  });
  expect(ended).toMatchObject({
    type: 'turn.ended',
    data: { outcome: 'failed', reason: 'context-too-large' },
  });
  expect(JSON.stringify(refused?.data)).toContain('the instructions and tool definitions alone');
});

test('a-turn-with-an-open-call stays: it cannot be left out before somebody has settled it', async () => {
  const desk = await Desk.open({
    says: (_, asked) =>
      asked === 1
        ? { stop: 'calls', content: [{ type: 'call', label: 'a', name: 'once', args: '{"do":"hang"}' }] }
        : {},
  });
  await desk.say('Message 1.');
  expect(await codeOf(desk.runtime.select(desk.session, { do: 'leave-out', turns: [1] }))).toBe('turn-held');
  await desk.runtime.cancel(desk.session);
  await desk.say('Message 2.');
  expect(await codeOf(desk.runtime.select(desk.session, { do: 'leave-out', turns: [1] }))).toBe('turn-held');
  await desk.runtime.select(desk.session, { do: 'policy', policy: { kind: 'last-turns', turns: 1 } });
  expect(turnsIn(await desk.say('Message 3.'))).toEqual([1, 3]);
  await desk.runtime.settle({ session: desk.session, call: '1.1.1', settlement: { answer: 'give-up' } });
  expect(turnsIn(await desk.say('Message 4.'))).toEqual([4]);
});

test.each(['the same process', 'another one'])(
  'a-request-refused for its size is no request: what the next one shares is what it shares with the last that was sent, in %s',
  async (where) => {
    const desk = await Desk.open({ bytesMax: 1000 });
    await desk.say('Message 1.');
    await desk.runtime.select(desk.session, { do: 'leave-out', turns: [1] });
    const asked = desk.bodies.length;
    await desk.say(`Message 2 ${WORDS.repeat(6)}.`);
    expect(desk.bodies).toHaveLength(asked);
    if (where === 'another one') await desk.restart();
    await desk.runtime.select(desk.session, { do: 'take-back', turns: [1] });
    await desk.runtime.select(desk.session, { do: 'leave-out', turns: [2] });
    expect(turnsIn(await desk.say('Message 3.'))).toEqual([1, 3]);
    const events = await desk.events();
    const built = events.filter((event) => event.type === 'request.built');
    expect(built.at(-1)?.data.reuse).toEqual({ request: built[0]?.seq, parts: 1 });
    const { session } = desk;
    const again = replay({ session, events, encoderOf: () => desk.encoder, program: 'test' });
    expect(again.difference).toBeUndefined();
  },
);

const SIGNED: ResponseBlock = { type: 'reasoning', text: '', opaque: 'sig' };

test('signed-reasoning: a cut before it has to be decided, says what it does, and takes it out', async () => {
  const desk = await Desk.open({
    says: (_, asked) => ({
      content: [
        { ...SIGNED, opaque: `sig${asked}` },
        { type: 'text', text: 'Yes.' },
      ],
    }),
  });
  for (const n of [1, 2, 3]) await desk.say(`Message ${n}.`);
  expect(desk.bodies.at(-1)).toContain('sig2');
  const cut = { do: 'leave-out', turns: [2] } as const;
  expect(await codeOf(desk.runtime.select(desk.session, cut))).toBe('reasoning-signed');
  const plan = nextPlan(desk.session, await desk.events(), {
    encoderOf: () => neutralEncoder,
    last: undefined,
    facts: [
      {
        type: 'selection.changed',
        data: { change: cut, by: { kind: 'person', name: 'anna' }, dropsReasoning: true },
      },
    ],
  });
  expect(
    plan.manifest?.parts.filter(({ kind }) => kind === 'reasoning').map(({ turn, state }) => [turn, state]),
  ).toEqual([
    [1, 'kept'],
    [2, 'left-out'],
    [3, 'left-out'],
  ]);
  await desk.runtime.select(desk.session, cut, { dropsReasoning: true });
  const body = await desk.say('Message 4.');
  expect(turnsIn(body)).toEqual([1, 3, 4]);
  expect([...body.matchAll(/sig\d/g)].map(([found]) => found)).toEqual(['sig1']);
  // What is signed over the shorter history is valid behind it.
  expect([...(await desk.say('Message 5.')).matchAll(/sig\d/g)].map(([found]) => found)).toEqual([
    'sig1',
    'sig4',
  ]);
});

const SUMMARY = 'In short: all is well.';
const summing: Options['says'] = (body) =>
  body.includes('Write a summary of everything above.') ? { content: [{ type: 'text', text: SUMMARY }] } : {};

test('a-summary-on-demand stands for what was said, names its range, and is part of the record', async () => {
  const desk = await Desk.open({ says: summing });
  for (const n of [1, 2, 3]) await desk.say(`Message ${n} ${WORDS}.`);
  await desk.runtime.select(desk.session, { do: 'pin', turns: [2] });
  await desk.runtime.compact(desk.session);
  const body = await desk.say('Message 4.');
  expect(desk.bodies).toHaveLength(5);
  expect(turnsIn(desk.bodies[3] ?? '')).toEqual([1, 2, 3, 4]);
  expect(turnsIn(body)).toEqual([2, 4]);
  expect(body).toContain(SUMMARY);
  const summarised = (await desk.events()).find((event) => event.type === 'history.summarised');
  expect(summarised?.data).toMatchObject({ turn: 4, except: [2] });
  // Asked for once, made once; what follows only grows.
  await desk.say('Message 5.');
  expect(desk.bodies).toHaveLength(6);
  expect(turnsIn(desk.bodies[5] ?? '')).toEqual([2, 4, 5]);
  expect(await codeOf(desk.runtime.select(desk.session, { do: 'leave-out', turns: [1] }))).toBe(
    'turn-summarised',
  );
  expect(await codeOf(desk.runtime.select(desk.session, { do: 'leave-out', turns: [4] }))).toBe('done');
});

const call = (n: number): Partial<Extract<ModelReply, { kind: 'response' }>> => ({
  stop: 'calls',
  content: [
    { type: 'text', text: WORDS },
    { type: 'call', label: `c${n}`, name: 'none', args: `{"n":${n}}` },
  ],
});

test('a-summary-by-threshold: within a long turn, too, and again when it has grown again', async () => {
  const desk = await Desk.open({
    context: { compactAtTokens: 600 },
    says: (body, asked) =>
      body.includes('Write a summary of everything above.') || asked > 14
        ? summing(body, asked)
        : call(asked),
  });
  await desk.say('Message 1.');
  const events = await desk.events();
  const summaries = events.filter((event) => event.type === 'history.summarised');
  expect(summaries).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ type: 'turn.ended', data: { outcome: 'done' } });
  const sizes = desk.bodies.map((body) => body.length);
  expect(Math.max(...sizes)).toBeLessThan(2 * 600 * 4);
  expect(desk.bodies.at(-1)).toContain('Message 1');
});

test('a-turn-summed-up-in-part and then left open does not come back whole with the next summary', async () => {
  const doubt: Partial<Extract<ModelReply, { kind: 'response' }>> = {
    stop: 'calls',
    content: [{ type: 'call', label: 'x', name: 'once', args: '{"do":"hang"}' }],
  };
  const replies = [call(1), call(2), call(3), doubt, { content: [{ type: 'text', text: WORDS }] } as const];
  const desk = await Desk.open({
    says: (body, asked) =>
      body.includes('Write a summary of everything above.') ? summing(body, asked) : (replies.shift() ?? {}),
    context: { compactAtTokens: 300 },
  });
  await desk.say('Message 1.');
  await desk.runtime.cancel(desk.session);
  await desk.say(`Message 2 ${WORDS}.`);
  await desk.runtime.compact(desk.session);
  await desk.say(`Message 3${', that is long'.repeat(30)}.`);
  const last = desk.bodies.at(-1) ?? '';
  // The message that it is about, and the call in doubt; not the calls before, which both summaries have seen.
  expect(turnsIn(last)).toEqual([1, 3]);
  expect(last).toContain('"do\\":\\"hang');
  expect(last).not.toContain(WORDS);
  expect(last.length).toBeLessThan(desk.bodies.at(-2)?.length ?? 0);
  await desk.runtime.compact(desk.session);
  expect(turnsIn(await desk.say('Message 4.'))).toEqual([1, 4]);
  expect(desk.bodies.at(-1)).not.toContain(WORDS);
  const events = await desk.events();
  const [first, second, third, ...more] = events.filter((event) => event.type === 'history.summarised');
  expect(more).toEqual([]);
  expect(first?.data).toMatchObject({ turn: 1, except: [] });
  const from = (first?.data.to ?? 0) + 1;
  expect(second?.data).toMatchObject({ turn: 3, except: [1], partly: [{ turn: 1, from }] });
  expect(third?.data).toMatchObject({ turn: 4, except: [1], partly: [{ turn: 1, from }] });
});

test('a-summary-left-out: where all that it stands for is left out, it is not said to be in the request', async () => {
  const replies = [{}, call(1), call(2), call(3)];
  const desk = await Desk.open({
    says: (body, asked) =>
      body.includes('Write a summary of everything above.') ? summing(body, asked) : (replies.shift() ?? {}),
    context: { select: { kind: 'last-turns', turns: 1 }, compactAtTokens: 300 },
  });
  await desk.say('Message 1.');
  // Summed up in part, and without the first turn, which was left out by then.
  expect(await desk.say('Message 2.')).toContain(SUMMARY);
  const body = await desk.say('Message 3.');
  expect(turnsIn(body)).toEqual([3]);
  expect(body).not.toContain(SUMMARY);
  const events = await desk.events();
  const requests = rebuildAll(events, (digest) => desk.store.blob(digest));
  const { manifest } = await sentPlan(desk.session, events, requests, desk.bodies.length);
  expect(manifest.parts.find(({ kind }) => kind === 'summary')).toMatchObject({
    state: 'left-out',
    reason: 'all that it stands for is left out',
  });
});

test('a-summary-that-is-none changes nothing: too long, cut off, or calls instead', async () => {
  const wrong: readonly Partial<Extract<ModelReply, { kind: 'response' }>>[] = [
    { content: [{ type: 'text', text: WORDS.repeat(30) }] },
    { content: [{ type: 'text', text: 'It' }], stop: 'length' },
    { content: [{ type: 'call', label: 'x', name: 'once', args: '{}' }], stop: 'calls' },
    { content: [] },
  ];
  for (const [i, reply] of wrong.entries()) {
    const desk = await Desk.open({ says: (body) => (body.includes('Write a summary') ? reply : {}) });
    for (const n of [1, 2]) await desk.say(`Message ${n} ${WORDS}.`);
    await desk.runtime.compact(desk.session);
    expect(turnsIn(await desk.say('Message 3.'))).toEqual([1, 2, 3]);
    expect(desk.world.executions).toEqual([]);
    const discarded = (await desk.events()).find((event) => event.type === 'summary.discarded');
    expect(discarded?.data.reason).toBe(['not-smaller', 'incomplete', 'incomplete', 'empty'][i]);
  }
});

test('a-process-lost while it summarised asks again, and pays for one summary that stands', async () => {
  const summary = { text: 'Short.', cost: 0, delayMs: 1000 };
  const stage = new Stage({
    says: (turn, step) => (turn === 2 && step === 1 ? summary : { text: WORDS, cost: 0 }),
  });
  await stage.open();
  const session = await stage.send(`Message 1 ${WORDS}${WORDS}`);
  await stage.event(session, 'turn.ended');
  await stage.runtime.compact(session);
  await stage.runtime.send({ session, message: 'Message 2.' });
  await stage.event(session, (event) => event.type === 'request.built' && event.data.summary !== undefined);
  stage.crash();
  stage.clock.advance(20_000);
  const runtime = await stage.open();
  const resting = runtime.rest(session);
  await stage.event(session, 'request.sent');
  stage.clock.advance(1000);
  await resting;
  const types = await stage.types(session);
  expect(types.filter((type) => type === 'history.summarised')).toHaveLength(1);
  expect(turnsIn(stage.heard.at(-1)?.body ?? '')).toEqual([2]);
});

test('a model that counts its tokens with what is no count is asked on: nothing is counted on that', async () => {
  for (const usage of [
    { input: 3, output: 1 },
    { cacheRead: 0, cacheWrite: 0, input: Number.NaN, output: 1 },
    { cacheRead: -1, cacheWrite: 0, input: 1, output: 1 },
  ]) {
    const desk = await Desk.open({ says: () => ({ usage: usage as never }) });
    await desk.say('One.');
    await desk.say('Two.');
    const events = (await desk.store.read(desk.session)).map(open);
    const answers = events.filter(({ type }) => type === 'response.received');
    expect(answers).toHaveLength(2);
    for (const { data } of answers) expect(data).not.toHaveProperty('usage');
    expect(events.at(-1)?.data).toMatchObject({ turn: 2, outcome: 'done' });
  }
});
