/**
 * A random session, played against the real runtime over a store in memory: random calls, outcomes, people,
 * cancels and crashes, in a world that keeps its own count. Everything comes from one plan, so that a plan that
 * fails can be played again and made smaller.
 */
import * as fc from 'fast-check';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { isOnrecordError } from '../../src/errors.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { next, waiting } from '../../src/session/next.ts';
import { findCall, type SessionState } from '../../src/session/state.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { fold } from './audit.ts';
import { calm } from './clock.ts';
import { Stage } from './stage.ts';
import { TOOL_TIMEOUT, type Behaviour } from './world.ts';

type PlannedCall = {
  readonly tool: string;
  readonly do: Behaviour;
  readonly n: number;
  readonly label: string;
  readonly raw: string;
};
type PlannedReply = {
  readonly calls: readonly PlannedCall[];
  readonly error: boolean;
  readonly stop: 'calls' | 'length' | 'paused';
};

export type Plan = {
  /** What the model says in each step; after the last one it is done. */
  readonly replies: readonly PlannedReply[];
  readonly turns: number;
  /** Whether policy asks about every second number. */
  readonly asks: boolean;
  /** What happens from outside, one number after the other. */
  readonly dice: readonly number[];
};

const BEHAVIOURS: readonly Behaviour[] = [
  'ok',
  'ok',
  'late',
  'hang',
  'fail',
  'retryable',
  'throw',
  'weird',
  'bytes',
];

const call: fc.Arbitrary<PlannedCall> = fc.record({
  tool: fc.constantFrom('none', 'idempotent', 'reconcilable', 'once', 'once', 'nobody'),
  do: fc.constantFrom(...BEHAVIOURS),
  n: fc.nat(5),
  label: fc.constantFrom('', '', 'same', 'call_1_1', 'no good label'),
  raw: fc.constantFrom('', '', '', '', '{"n":1,"n":2}', '{"n":', '[]', '{"__proto__":1}'),
});

export const plan: fc.Arbitrary<Plan> = fc.record({
  replies: fc.array(
    fc.record({
      calls: fc.array(call, { minLength: 1, maxLength: 4 }),
      error: fc.nat(4).map((die) => die === 0),
      stop: fc.constantFrom('calls', 'calls', 'calls', 'length', 'paused'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  turns: fc.integer({ min: 1, max: 2 }),
  asks: fc.boolean(),
  dice: fc.array(fc.nat(999), { minLength: 4, maxLength: 40 }),
});

const replyOf = ({ calls, error, stop }: PlannedReply, attempt: number): ScriptReply => {
  if (error && attempt === 1) return { error: { kind: 'overloaded' } };
  return {
    text: 'I go on.',
    stop,
    calls: calls.map(({ tool, label, raw, n, do: doing }) => ({
      tool,
      ...(raw === '' ? { args: { n, do: doing } } : { argsRaw: raw }),
      ...(label !== '' && { id: label }),
    })),
  };
};

export const stageFor = (
  { replies, asks }: Plan,
  options: ConstructorParameters<typeof Stage>[0] = {},
): Stage =>
  new Stage({
    says: (_, step, attempt) => {
      const reply = replies[step - 1];
      return reply ? replyOf(reply, attempt) : { text: 'Done.' };
    },
    policy: {
      rules: asks
        ? [
            { id: 'odd', when: [{ at: '/n', oneOf: [1, 3, 5] }], do: 'ask' },
            { id: 'all', do: 'allow' },
          ]
        : [{ id: 'all', do: 'allow' }],
    },
    ...options,
  });

/** Refusals are answers: a person may always come too late. */
const allowRefusal = (error: unknown): void => {
  if (!isOnrecordError(error) || error.next === 'bug' || error.next === 'corrupt') throw error;
};

export class Play {
  readonly #plan: Plan;
  readonly stage: Stage;
  session = '';
  #sent = 0;

  constructor(some: Plan, stage: Stage = stageFor(some)) {
    this.#plan = some;
    this.stage = stage;
  }

  /** Plays the plan, then lets everything come to its end. */
  async run(): Promise<void> {
    await this.stage.open();
    this.session = await this.stage.send('Message 1.');
    this.#sent = 1;
    for (const die of this.#plan.dice) {
      await calm(3);
      await this.#act(die);
    }
    await this.heal();
  }

  async #state(): Promise<SessionState> {
    return fold(this.session, (await this.stage.store.read(this.session)).map(open));
  }

  /** What happens next from outside. A crash that is on its way may come before it does. */
  async #act(die: number): Promise<void> {
    const { stage } = this;
    if (stage.isCrashed) return this.#reopen();
    const act = die % 10;
    const more = Math.floor(die / 10);
    if (act < 3) return stage.clock.advance([1, 150, TOOL_TIMEOUT, 5000][more % 4] ?? 1);
    if (act < 6) return this.#decide(more);
    if (act === 6) return this.#settle(more);
    if (act === 7 && more % 3 === 0) this.#background(stage.runtime.cancel(this.session));
    if (act === 8) this.#send(more % 2 === 0);
    if (act === 9) stage.crash(more % 4 === 0 ? undefined : 1 + (more % 5));
  }

  /** What a process that is killed was asked to do is never answered; the rest has to be. */
  #background(work: Promise<unknown>): void {
    work.catch(allowRefusal);
  }

  #send(again: boolean): void {
    if (!again && this.#sent >= this.#plan.turns) return;
    const turn = again ? this.#sent : ++this.#sent;
    const message = { session: this.session, key: `key-${turn}`, message: `Message ${turn}.` };
    if (turn > 1) this.#background(this.stage.runtime.send(message));
  }

  async #reopen(): Promise<void> {
    this.stage.clock.advance(LEASE_MS + 1);
    await this.stage.open();
  }

  async #decide(die: number): Promise<void> {
    const state = await this.#state();
    const ids = waiting(state).approvals;
    const id = ids[die % Math.max(1, ids.length)];
    const digest = id && findCall(state, id)?.digest;
    if (!id || !digest) return;
    const decision = (
      [
        { do: 'approve' },
        { do: 'approve' },
        { do: 'reject', reason: 'No.' },
        { do: 'edit', args: `{"n":${die % 6},"do":"ok"}` },
        { do: 'respond', content: [{ type: 'text', text: 'By hand.' }] },
      ] as const
    )[Math.floor(die / 4) % 5];
    if (decision)
      this.#background(this.stage.runtime.decide({ session: this.session, call: id, digest, decision }));
  }

  /** People say what is true; sometimes they do not know. */
  async #settle(die: number): Promise<void> {
    const [id] = waiting(await this.#state()).inDoubt;
    if (id === undefined) return;
    const happened = this.stage.world.of(id).length > 0;
    const settlement =
      die % 4 === 0
        ? ({ answer: 'give-up' } as const)
        : happened
          ? ({ answer: 'happened', content: [{ type: 'text', text: 'I saw it.' }] } as const)
          : ({ answer: 'not-happened' } as const);
    this.#background(this.stage.runtime.settle({ session: this.session, call: id, settlement }));
  }

  /** No more faults: everything asked is answered and time passes, until the session has come to its end. */
  async heal(): Promise<SessionState> {
    await this.#reopen();
    for (let i = 0; i < 200; i++) {
      await calm(3);
      const state = await this.#state();
      const { approvals, inDoubt } = waiting(state);
      if (approvals.length > 0) await this.#decide(i % 20);
      else if (inDoubt.length > 0) await this.#settle(1);
      else if (!state.active && next(state).length === 0) return state;
      this.stage.clock.advance(TOOL_TIMEOUT);
    }
    const events: readonly LogEvent[] = (await this.stage.store.read(this.session)).map(open);
    throw new Error(
      `The session does not come to its end: ${JSON.stringify(events.slice(-6).map(({ seq, type, data }) => ({ seq, type, data })))} ` +
        `warnings: ${this.stage.warnings.join(' | ')}`,
    );
  }
}
