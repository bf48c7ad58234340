/** Any conversation, any selection, any compaction: every request is one that a strict provider takes. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { rebuildAll } from '../../src/context/rebuild.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { callPosition } from '../../src/event/call-id.ts';
import type { SelectionPolicy } from '../../src/event/definition.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent, SelectionChange } from '../../src/event/events.ts';
import { isOnrecordError } from '../../src/errors.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model, ModelReply } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { sentPlan, type SentPlan } from '../../src/view/request-plan.ts';
import { waiting } from '../../src/session/next.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { fold } from '../kit/audit.ts';
import { settings } from '../kit/arbitrary.ts';
import { FakeClock, passTime, seededRandom } from '../kit/clock.ts';
import { problemOf, SigningProvider } from '../kit/signing-provider.ts';
import { ALL_RUN } from '../kit/stage.ts';
import { TOOL_TIMEOUT, World, type Behaviour } from '../kit/world.ts';

type Act =
  | { readonly do: 'select'; readonly change: SelectionChange; readonly drops: boolean }
  | { readonly do: 'compact' }
  | { readonly do: 'settle' }
  | { readonly do: 'restart'; readonly instructions: number; readonly compactAt: number };

type PlannedTurn = {
  readonly words: number;
  readonly steps: readonly (readonly { readonly tool: 'none' | 'once'; readonly do: Behaviour }[])[];
  /** A summary of so many words, or something that is none. */
  readonly summary: number | 'call' | 'cut' | 'nothing';
  readonly acts: readonly Act[];
};

const policy: fc.Arbitrary<SelectionPolicy> = fc.oneof(
  fc.constant({ kind: 'all' } as const),
  fc.integer({ min: 1, max: 3 }).map((turns) => ({ kind: 'last-turns', turns }) as const),
  fc.integer({ min: 20, max: 2000 }).map((tokens) => ({ kind: 'budget', tokens }) as const),
);

const change: fc.Arbitrary<SelectionChange> = fc.oneof(
  fc.record({
    do: fc.constantFrom('leave-out', 'take-back', 'pin', 'unpin'),
    turns: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 2 }),
  }),
  fc
    .option(policy, { nil: undefined })
    .map((one) => ({ do: 'policy', ...(one && { policy: one }) }) as const),
);

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('select'), change, drops: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ do: 'compact' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'settle' } as const) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('restart'),
      instructions: fc.nat(1),
      compactAt: fc.constantFrom(0, 0, 300, 1500),
    }),
  },
);

const plannedTurn: fc.Arbitrary<PlannedTurn> = fc.record({
  words: fc.integer({ min: 1, max: 80 }),
  steps: fc.array(
    fc.array(
      fc.record({
        tool: fc.constantFrom('none', 'once'),
        do: fc.constantFrom<Behaviour>('ok', 'ok', 'fail', 'hang', 'late', 'bytes'),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    { maxLength: 3 },
  ),
  summary: fc.constantFrom<PlannedTurn['summary']>(3, 3, 3, 400, 'call', 'cut', 'nothing'),
  acts: fc.array(act, { maxLength: 3 }),
});

const SUMMARY_ASKED = 'Write a summary of everything above.';

const text = (words: string): ModelReply & { kind: 'response' } => ({
  kind: 'response',
  stop: 'end',
  content: words === '' ? [] : [{ type: 'text', text: words }],
});

class Session {
  readonly clock: FakeClock = new FakeClock();
  readonly world: World = new World(this.clock);
  readonly store: MemoryLog = new MemoryLog();
  readonly provider: SigningProvider = new SigningProvider();
  readonly #turns: readonly PlannedTurn[];
  #runtime: Runtime | undefined;
  #opened = 0;
  session = '';

  constructor(turns: readonly PlannedTurn[]) {
    this.#turns = turns;
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('no runtime');
    return this.#runtime;
  }

  async open(instructions: number, compactAt: number): Promise<void> {
    await this.close();
    const agent = this.#agent(instructions, compactAt);
    const random = seededRandom(++this.#opened);
    this.#runtime = await openRuntime({ store: this.store, agents: [agent], clock: this.clock, random });
  }

  async close(): Promise<void> {
    const closed = this.#runtime?.close({ drainMs: 0 });
    this.clock.advance(0);
    await closed;
  }

  #agent(instructions: number, compactAt: number): Agent {
    const model: Model = {
      definition: { provider: 'signing', name: 'signer', params: {} },
      encoder: neutralEncoder,
      send: async (request) => this.provider.answer(request, this.#reply(request.turn, request.body())),
    };
    return defineAgent({
      name: 'clerk',
      instructions: `Be exact${'.'.repeat(instructions + 1)}`,
      model,
      tools: [this.world.tool('none', 'none'), this.world.tool('once', 'once')],
      policy: ALL_RUN,
      limits: { stepsPerTurn: 20, repeatedCalls: 100 },
      ...(compactAt > 0 && { context: { compactAtTokens: compactAt } }),
    });
  }

  #steps = new Map<number, number>();

  #reply(number: number, body: string): Extract<ModelReply, { kind: 'response' }> {
    const plan = this.#turns[number - 1];
    if (body.includes(SUMMARY_ASKED)) {
      const summary = plan?.summary ?? 3;
      if (summary === 'nothing') return text('');
      if (summary === 'cut') return { ...text('It was'), stop: 'length' };
      if (summary === 'call')
        return {
          ...text('I will.'),
          stop: 'calls',
          content: [{ type: 'call', label: 'x', name: 'none', args: '{}' }],
        };
      return text('in short '.repeat(summary));
    }
    const step = this.#steps.get(number) ?? 0;
    this.#steps.set(number, step + 1);
    const calls = plan?.steps[step];
    if (!calls) return text(`Answer of turn ${number}.`);
    return {
      ...text('I go on.'),
      stop: 'calls',
      content: calls.map((call, i) => ({
        type: 'call',
        label: `call_${i}`,
        name: call.tool,
        args: JSON.stringify({ do: call.do, n: i }),
      })),
    };
  }

  async run(): Promise<void> {
    await this.open(0, 0);
    for (const [i, { words, acts }] of this.#turns.entries()) {
      const message = `Message ${i + 1}: ${'word '.repeat(words)}`;
      if (i === 0) this.session = (await this.runtime.send({ agent: 'clerk', message })).session;
      else await this.runtime.send({ session: this.session, message });
      await this.#settle();
      for (const one of acts) await this.#act(one);
    }
    await this.#settle();
  }

  /** Lets time pass until the turn has ended. Calls may stay in doubt behind a turn that was cancelled. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      await passTime(this.clock, TOOL_TIMEOUT, this.runtime.rest(this.session));
      const { active } = await this.runtime.state(this.session);
      if (!active) return;
      await this.runtime.cancel(this.session).catch(allowRefusal);
    }
    throw new Error('the turn does not end');
  }

  async #act(one: Act): Promise<void> {
    switch (one.do) {
      case 'select':
        await this.runtime
          .select(this.session, one.change, { dropsReasoning: one.drops })
          .catch(allowRefusal);
        return;
      case 'compact':
        await this.runtime.compact(this.session, { dropsReasoning: true }).catch(allowRefusal);
        return;
      case 'settle': {
        const [call] = waiting(await this.runtime.state(this.session)).inDoubt;
        if (call === undefined) return;
        await this.runtime
          .settle({ session: this.session, call, settlement: { answer: 'give-up' } })
          .catch(allowRefusal);
        return;
      }
      case 'restart':
        await this.open(one.instructions, one.compactAt);
        return;
      default:
        return one satisfies never;
    }
  }
}

const allowRefusal = (error: unknown): void => {
  if (!isOnrecordError(error) || error.next === 'bug' || error.next === 'corrupt') throw error;
};

/** A summary that stands in requests makes the next one smaller than the one before it, the question aside. */
const expectShrunk = (events: readonly LogEvent[]): void => {
  for (const [i, event] of events.entries()) {
    if (event.type !== 'history.summarised') continue;
    const asked = events[event.data.request - 1];
    const after = events.slice(i + 1).find((one) => one.type === 'request.built');
    if (asked?.type !== 'request.built' || after?.type !== 'request.built') continue;
    const question = asked.data.parts.at(-1)?.pieces.join('').length ?? 0;
    expect(after.data.bytes).toBeLessThan(asked.data.bytes - question);
  }
};

/** What there is to hold, counted in the simplest way: without the conversation, the choice or the manifest. */
const countAll = (events: readonly LogEvent[]): Readonly<Record<string, number>> => {
  const counts = { input: 0, response: 0, reasoning: 0, result: 0, file: 0, summary: 0 };
  const asked = new Set<string>();
  const closed = new Set<string>();
  for (const event of events) {
    if (event.type === 'turn.accepted') counts.input++;
    if (event.type === 'request.built' && event.data.summary)
      asked.add(`${event.data.turn}.${event.data.step}`);
    if (event.type === 'response.received') {
      const { turn, step, content } = event.data;
      if (asked.has(`${turn}.${step}`)) counts.summary++;
      else {
        counts.response++;
        counts.reasoning += content.filter((block) => block.type === 'reasoning').length;
        counts.result += content.filter((block) => block.type === 'call').length;
      }
    }
    if (event.type === 'call.result' && event.data.outcome.kind === 'ok' && !closed.has(event.data.call)) {
      closed.add(event.data.call);
      counts.file += event.data.outcome.content.filter((part) => part.type === 'blob').length;
    }
  }
  return counts;
};

/** Every part once, in one of four states; what is said to be in the request is in it, and nothing else is. */
const expectManifest = (plan: SentPlan, events: readonly LogEvent[], body: string): void => {
  const { parts, counts } = plan.manifest;
  const of = (kind: string): number => parts.filter((part) => part.kind === kind).length;
  const expected = countAll(events);
  expect(Object.fromEntries(Object.keys(expected).map((kind) => [kind, of(kind)]))).toEqual(expected);
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(parts.length);
  const places = parts.flatMap(({ kind, seq, label }) =>
    seq === undefined ? [] : [`${kind} ${seq} ${kind === 'file' || kind === 'result' ? label : ''}`],
  );
  if (of('file') < 2) expect(new Set(places).size).toBe(places.length);
  for (const { kind, turn, state, reason, bytes } of parts) {
    if (state === 'left-out' || state === 'summarised') expect(reason).not.toBe('');
    else expect(bytes).toBeGreaterThan(0);
    if (kind === 'input') expect(body.includes(`"Message ${turn}: `)).toBe(state === 'kept');
  }
  const { wishes, leftOpen } = fold('', events);
  for (const held of [...wishes.pinned, ...leftOpen.map((call) => callPosition(call.id).turn)])
    if (parts.some(({ kind, turn, seq }) => kind === 'input' && turn === held && seq !== undefined))
      expect(body.includes(`"Message ${held}: `)).toBe(true);
  const reasoning = parts.filter(({ kind, state }) => kind === 'reasoning' && state === 'kept').length;
  expect(body.match(/"opaque":/g)?.length ?? 0).toBe(reasoning);
  // What parts are said to take is what the request takes, but for brackets and commas.
  const inside = parts.filter(({ state }) => state === 'kept' || state === 'shortened');
  const sum = inside.reduce((all, part) => all + part.bytes, 0);
  expect(Math.abs(sum - plan.manifest.bytes)).toBeLessThanOrEqual(3 * parts.length + 5);
};

export const expectSound = async (session: Session): Promise<void> => {
  const { store } = session;
  const stored = await store.read(session.session);
  const events = stored.map(open);
  const blob = (digest: Digest): Promise<Uint8Array | undefined> => store.blob(digest);
  expectShrunk(events);
  const bodies: string[] = [];
  for await (const { seq, head, parts, tail } of rebuildAll(events, blob)) {
    const body = head + parts.join(',') + tail;
    expect(problemOf(body)).toBeUndefined();
    bodies.push(body);
    const plan = await sentPlan(session.session, events, rebuildAll(events, blob), bodies.length);
    expectManifest(plan, events.slice(0, seq - 1), body);
  }
  expect(session.provider.seen.map((seen) => seen.problem).filter(Boolean)).toEqual([]);
  expect(session.provider.seen.map((seen) => seen.body)).toEqual(bodies);
  expect((await verify(store, session.session)).findings).toEqual([]);
  const again = replay({
    session: session.session,
    events,
    encoderOf: () => neutralEncoder,
    program: 'test',
  });
  expect(again.difference).toBeUndefined();
  for (const event of events)
    if (event.type === 'turn.ended' && event.data.outcome === 'failed')
      expect(['context-too-large']).toContain(event.data.reason);
};

const SEED_OF_ALL = 3;

test('any conversation, any selection, any compaction: every request is valid, its pairs whole, its reasoning in place', async () => {
  const counts = { out: 0, summarised: 0, discarded: 0, stripped: 0, refused: 0 };
  const property = fc.asyncProperty(
    fc.array(plannedTurn, { minLength: 1, maxLength: 5 }),
    async (turns: readonly PlannedTurn[]) => {
      const session = new Session(turns);
      try {
        await session.run();
        await expectSound(session);
        for (const event of (await session.store.read(session.session)).map(open)) {
          if (event.type === 'request.built' && event.data.selection?.out.length) counts.out++;
          if (event.type === 'request.built' && event.data.selection?.strips?.length) counts.stripped++;
          if (event.type === 'history.summarised') counts.summarised++;
          if (event.type === 'summary.discarded') counts.discarded++;
          if (event.type === 'request.refused') counts.refused++;
        }
      } finally {
        await session.close();
      }
    },
  );
  await expect(fc.assert(property, settings({ numRuns: 100 }))).resolves.toBeUndefined();
  // A run that tries nothing proves nothing: these try everything, whatever the dice of the others said.
  await expect(fc.assert(property, { seed: SEED_OF_ALL, numRuns: 100 })).resolves.toBeUndefined();
  for (const [what, count] of Object.entries(counts))
    expect({ what, tried: count > 0 }).toEqual({ what, tried: true });
}, 120_000);
