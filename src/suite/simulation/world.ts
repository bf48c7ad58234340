/**
 * The world outside the runtime: services that really do what tools ask of them, and remember it. It is the
 * oracle: what happened is what stands here, whatever the log believes.
 */
import type { Clock } from '../../clock.ts';
import type { EffectKind } from '../../event/effect-kind.ts';
import { NeededCalls, type CallRequest } from '../../tool/calls.ts';
import { tool, ToolError, type Tool, type ToolContext } from '../../tool/tool.ts';
import type { Dice } from './dice.ts';
import type { Life } from './faulty-store.ts';
import { ERRAND, TOOL_KINDS, type ToolPlan } from './regime.ts';

export type Executed = {
  /** "s_... 1.2.3" */
  readonly call: string;
  readonly tool: string;
  readonly kind: EffectKind;
  readonly key: string;
  readonly args: string;
  readonly attempt: number;
  /** What its preview was bound to when a person saw it. */
  readonly base: string;
};

/** How a service treats one attempt. */
type Fate =
  | 'ok'
  | 'refuses'
  | 'happens-then-throws'
  | 'throws-before'
  | 'happens-late'
  | 'hangs'
  | 'happens-then-hangs';

const HAPPENS: ReadonlySet<Fate> = new Set([
  'ok',
  'happens-late',
  'happens-then-throws',
  'happens-then-hangs',
]);

export type WorldFaults = { readonly trouble: number };

export const TOOL_MS = 1000;
/** How often a preview is not made at once. */
const PREVIEW_TAKES_TIME = 0.4;
/** Longer than the timeout, shorter than anybody's patience. */
const LATE_MS = 2500;

export type Input = { readonly n: number; readonly to?: string };

const SCHEMA = {
  type: 'object',
  properties: {
    n: { type: 'integer', minimum: 0, maximum: 9 },
    to: { type: 'string', maxLength: 1 },
  },
  required: ['n'],
  additionalProperties: false,
} as const;

export class World {
  readonly effects: Executed[] = [];
  /** Attempts that have begun and may still have an effect, whatever has become of who began them. */
  readonly #pending = new Map<string, number>();
  /** Attempts that began, for the check that their intent was durable. */
  readonly begun: Executed[] = [];
  readonly #dice: Dice;
  readonly #clock: Clock;
  readonly #faults: WorldFaults;
  /** What previews are bound to; anybody may change it. */
  readonly #shelf = new Map<string, number>();
  healed: boolean = false;

  constructor(dice: Dice, clock: Clock, faults: WorldFaults) {
    this.#dice = dice;
    this.#clock = clock;
    this.#faults = faults;
  }

  isPending(key: string): boolean {
    return (this.#pending.get(key) ?? 0) > 0;
  }

  happened(key: string): boolean {
    return this.effects.some((effect) => effect.key === key);
  }

  /** Somebody else changes what a tool works on. */
  disturb(name: string): void {
    this.#shelf.set(name, this.#versionOf(name) + 1);
  }

  #versionOf(name: string): number {
    return this.#shelf.get(name) ?? 0;
  }

  /** The tools of one simulated process: what is local dies with it, what is on its way does not. */
  tools(plans: readonly ToolPlan[], life: Life, onBegin: (executed: Executed) => void): readonly Tool[] {
    return [this.#errand(life, onBegin), ...this.#plain(plans, life, onBegin)];
  }

  /** Does nothing itself: whatever it does, it does by calls, one after the other and two at once. */
  #errand(life: Life, onBegin: (executed: Executed) => void): Tool {
    return tool<Input>({
      name: ERRAND,
      description: 'Simulated tool that makes calls.',
      inputSchema: SCHEMA,
      effect: 'none',
      approval: 'never',
      timeoutMs: TOOL_MS,
      retry: { attempts: 2, baseMs: 10 },
      calls: TOOL_KINDS.map(([name]) => name),
      execute: async (input, context) => {
        if (life.dead) return new Promise(() => undefined);
        const executed = executedOf({ name: ERRAND, effect: 'none' }, input, context);
        this.begun.push(executed);
        onBegin(executed);
        await this.#attempt(executed, life);
        return input.n % 2 === 0 ? oneByOne(input, context) : twoAtOnce(input, context);
      },
    });
  }

  #plain(plans: readonly ToolPlan[], life: Life, onBegin: (executed: Executed) => void): readonly Tool[] {
    return plans.map(({ name, effect, approval, labels, egress }) =>
      tool<Input>({
        name,
        description: `Simulated ${effect} tool.`,
        inputSchema: SCHEMA,
        effect,
        approval,
        labels,
        egress,
        timeoutMs: TOOL_MS,
        retry: { attempts: 2, baseMs: 10 },
        preview: async ({ n }) => {
          // Mostly at once: what happens between a look and a start is rare, and must be met.
          if (this.#dice.happens(PREVIEW_TAKES_TIME)) await this.#wait(this.#dice.whole(1, TOOL_MS));
          if (life.dead) return new Promise<never>(() => undefined);
          const version = this.#versionOf(name);
          return { title: `${name} ${n} on ${version}`, blocks: [], base: { n, version } };
        },
        ...(effect === 'reconcilable' && {
          reconcile: (_: unknown, { idempotencyKey }: ToolContext) =>
            this.happened(idempotencyKey)
              ? { happened: true as const, result: 'filed' }
              : { happened: false as const },
        }),
        execute: async (input, context) => {
          if (life.dead) return new Promise(() => undefined);
          const executed = executedOf({ name, effect }, input, context);
          this.begun.push(executed);
          onBegin(executed);
          return this.#attempt(executed, life);
        },
      }),
    );
  }

  async #attempt(executed: Executed, life: Life): Promise<unknown> {
    const { key, kind, args } = executed;
    const fate = this.#fate(kind);
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
    await this.#wait(fate === 'happens-late' ? LATE_MS : this.#dice.whole(0, TOOL_MS / 2));
    this.#pending.set(key, (this.#pending.get(key) ?? 0) - 1);
    // What a local tool had not done when its process died is never done.
    if (kind === 'reconcilable' && life.dead) return new Promise(() => undefined);
    if (HAPPENS.has(fate)) this.#happen(executed);
    switch (fate) {
      case 'ok':
      case 'happens-late':
        return { done: args };
      case 'refuses':
        throw new ToolError('The service said no.', { code: 'refused', retryable: this.#dice.happens(0.5) });
      case 'throws-before':
      case 'happens-then-throws':
        throw new Error('socket hang up');
      case 'happens-then-hangs':
      case 'hangs':
        return new Promise(() => undefined);
      default:
        return fate satisfies never;
    }
  }

  #happen(executed: Executed): void {
    if (executed.kind === 'none') return;
    // A service that honours the key does a thing once.
    if (executed.kind === 'idempotent' && this.happened(executed.key)) return;
    this.effects.push(executed);
  }

  #fate(kind: EffectKind): Fate {
    if (this.healed || !this.#dice.happens(this.#faults.trouble)) return 'ok';
    // What a reconcilable tool does is done at once or not at all: else no answer of the world would be true.
    if (kind === 'reconcilable')
      return this.#dice.pick<Fate>([
        'refuses',
        'throws-before',
        'happens-then-throws',
        'happens-then-hangs',
        'hangs',
      ]);
    return this.#dice.pick<Fate>([
      'refuses',
      'throws-before',
      'happens-then-throws',
      'happens-late',
      'happens-then-hangs',
      'hangs',
    ]);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

/** The calls of an errand follow from its arguments alone. Now and then one that is rejected. */
export const errands = ({ n, to }: Input): readonly CallRequest[] =>
  Array.from({ length: n + 1 }, (_, i) => ({
    tool: TOOL_KINDS[(n + i) % TOOL_KINDS.length]?.[0] ?? '',
    args: { n: n === 3 && i === 1 ? BAD_N : (n * i) % 4, ...(to !== undefined && { to }) },
  }));

/** Over the maximum of the schema. */
const BAD_N = 99;

const oneByOne = (input: Input, { callTool }: ToolContext): unknown =>
  errands(input).map(({ tool: name, args }) => {
    try {
      return callTool(name, args);
    } catch (thrown) {
      if (!(thrown instanceof ToolError) || thrown.code !== 'inner-call-failed') throw thrown;
      return thrown.message;
    }
  });

const twoAtOnce = (input: Input, { made }: ToolContext): unknown => {
  const all = errands(input);
  const next = all.slice(made.length, made.length + 2);
  return next.length > 0 ? new NeededCalls(next) : made.map((call) => ({ ...call }));
};

const executedOf = (
  { name, effect }: { readonly name: string; readonly effect: EffectKind },
  input: Input,
  { call, idempotencyKey, attempt, base }: ToolContext,
): Executed => ({
  call,
  tool: name,
  kind: effect,
  key: idempotencyKey,
  args: JSON.stringify(input),
  attempt,
  base: JSON.stringify(base ?? null),
});
