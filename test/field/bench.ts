/** A field case made of real parts: a runtime over a SQLite file, the case's stub tools, a model that is heard. */
import { onTestFinished } from 'vitest';
import type { CallId } from '../../src/event/call-id.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { ContextPlan, Limits, Mode, Policy, SetAsideTool } from '../../src/event/definition.ts';
import type { JsonObject } from '../../src/event/json.ts';
import { open } from '../../src/event/envelope.ts';
import type { Prices } from '../../src/cost/prices.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { Model } from '../../src/model/model.ts';
import type { ScriptCall, ScriptReply } from '../../src/model/script.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import type { CallState } from '../../src/session/state.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { calm, FakeClock, seededRandom, until } from '../kit/clock.ts';
import { CutStore } from '../kit/cut-store.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { valueOf, type GivenCall, type GivenCase, type GivenReply } from './given.ts';
import { Stubs, type Given } from './stubs.ts';
import { LIMITS, PROBLEMS, STOPS } from './words.ts';

export type BenchOptions = {
  /** In place of those of the case. */
  readonly tools?: readonly Tool[];
  readonly model?: Model;
  readonly limits?: Partial<Limits>;
  readonly policy?: Policy;
  readonly context?: ContextPlan;
  readonly instructions?: string;
  /** Where the store lies. */
  readonly path?: string;
  /** Real time, for cases about a store that other processes hold up. Default fake. */
  readonly clock?: 'real';
  readonly prices?: Prices;
  readonly setAside?: readonly SetAsideTool[];
};

const callOf = ({ id, tool: name, args, args_raw, args_js }: GivenCall): ScriptCall => ({
  tool: name,
  ...(id !== undefined && { id }),
  ...(args !== undefined && { args: args as JsonObject }),
  ...(args_raw !== undefined && { argsRaw: args_raw }),
  ...(args_js !== undefined && { argsRaw: String(valueOf(args_js)) }),
});

/** One item per model call; {n} counts from 1. */
export const repliesOf = (given: readonly GivenReply[]): readonly ScriptReply[] =>
  given.flatMap((item) =>
    Array.from({ length: item.repeat ?? 1 }, (_, i) => {
      const text = JSON.stringify(item).replaceAll('{n}', String(i + 1));
      return replyOf(JSON.parse(text) as GivenReply);
    }),
  );

const replyOf = ({ text, calls, stop, stop_details, usage, http }: GivenReply): ScriptReply => {
  if (http) {
    const after = http.headers?.['retry-after'];
    return {
      error: {
        kind: PROBLEMS[http.status] ?? 'unavailable',
        status: http.status,
        ...(http.body !== undefined && { message: http.body }),
        ...(after !== undefined && { retryAfterMs: Number(after) * 1000 }),
      },
    };
  }
  const reason = stop === undefined ? undefined : STOPS[stop as keyof typeof STOPS];
  if (stop !== undefined && reason === undefined) throw new Error(`no word for the stop "${stop}"`);
  return {
    ...(text !== undefined && text !== null && { text: String(text) }),
    ...(calls && { calls: calls.map(callOf) }),
    ...(reason && { stop: reason }),
    ...(stop_details?.category !== undefined && { stopDetail: stop_details.category }),
    ...(usage && { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...usage } }),
  };
};

const limitsOf = ({ input }: GivenCase): Partial<Limits> => {
  const given = (input.config?.['limits'] ?? {}) as Readonly<Record<string, number>>;
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const own = LIMITS[name];
      return own === undefined ? [] : [[own, value]];
    }),
  );
};

export class Bench {
  readonly clock: FakeClock = new FakeClock();
  readonly path: string;
  readonly #real: boolean;
  readonly #prices: Prices | undefined;
  /** Called when the model is asked, before it answers. */
  onAsked: () => void | Promise<void> = () => undefined;
  readonly heard: string[] = [];
  readonly stubs: Stubs = new Stubs(() => this.clock);
  readonly warnings: string[] = [];
  readonly agent: Agent;
  /** As it is, whatever process was cut off from it. */
  readonly store: LogStore;
  readonly #open: { runtime: Runtime; store: CutStore }[] = [];
  readonly #random = seededRandom(7);
  readonly #replies: ScriptReply[];
  session = '';

  constructor(given: GivenCase, options: BenchOptions = {}) {
    this.path = options.path ?? tempFile();
    this.store = given.on?.next() ?? openSqlite(this.path);
    this.#real = options.clock === 'real';
    this.#prices = options.prices;
    this.#replies = [...repliesOf(given.input.model ?? [])];
    this.agent = defineAgent({
      name: 'clerk',
      instructions: options.instructions ?? 'Be exact.',
      model: options.model ?? this.#scripted(),
      tools: options.tools ?? this.stubs.of(given),
      policy: options.policy ?? { rules: [] },
      limits: { ...limitsOf(given), ...options.limits },
      ...(options.context && { context: options.context }),
      ...(options.setAside && { setAside: options.setAside }),
    });
    onTestFinished(() => this.close());
  }

  get effects(): Readonly<Record<string, number>> {
    return this.stubs.effects;
  }

  get given(): readonly Given[] {
    return this.stubs.given;
  }

  get runtime(): Runtime {
    const last = this.#open.at(-1);
    if (!last) throw new Error('no runtime is open');
    return last.runtime;
  }

  async open(): Promise<void> {
    const store = new CutStore(this.store);
    const runtime = await openRuntime({
      store,
      agents: [this.agent],
      ...(!this.#real && { clock: this.clock }),
      random: this.#random,
      ...(this.#prices && { prices: this.#prices }),
      log: { info: () => undefined, warn: (message) => void this.warnings.push(message) },
    });
    this.#open.push({ runtime, store });
  }

  /** The process is gone, now or within so many appends. */
  crash(inAppends?: number): void {
    const store = this.#open.at(-1)?.store;
    if (inAppends === undefined) store?.cut();
    else store?.cutAfter(inAppends);
  }

  get isCrashed(): boolean {
    return this.#open.at(-1)?.store.isCut ?? false;
  }

  /** Another process takes over once the lease has run out. */
  async restart(): Promise<void> {
    this.crash();
    this.clock.advance(LEASE_MS + 1);
    await this.open();
  }

  async close(): Promise<void> {
    for (const { runtime, store } of this.#open.splice(0)) {
      store.cut();
      const closed = runtime.close({ drainMs: 0 });
      this.clock.advance(0);
      await closed;
    }
  }

  async send(message = 'go', mode: Mode = 'normal'): Promise<void> {
    this.session = (await this.runtime.send({ agent: 'clerk', message, key: 'k-1', mode })).session;
  }

  async play(message = 'go'): Promise<void> {
    if (this.#open.length === 0) await this.open();
    await this.send(message);
    await this.rest();
  }

  say(replies: readonly GivenReply[]): void {
    this.#replies.push(...repliesOf(replies));
  }

  async rest(): Promise<void> {
    await this.runtime.rest(this.session);
  }

  async events(): Promise<readonly LogEvent[]> {
    return (await this.store.read(this.session)).map(open);
  }

  async count(type: LogEvent['type']): Promise<number> {
    return (await this.events()).filter((event) => event.type === type).length;
  }

  /** Waits, without letting the clock move, until an event is in the log. */
  async event(type: LogEvent['type']): Promise<void> {
    await until(`the event ${type}`, async () => (await this.count(type)) > 0);
  }

  /** Waits until so many calls are with their stubs, and their timers are set; a call that is on record may not be yet. */
  async reached(count: number): Promise<void> {
    await until(`${count} calls reach their tools`, () => this.given.length >= count);
  }

  /** The call by the provider's id. */
  async call(label: string): Promise<CallState> {
    const { active } = await this.runtime.state(this.session);
    const found = active?.calls.find((one) => one.label === label);
    if (!found) throw new Error(`no call ${label} is open`);
    return found;
  }

  /** Waits until a person is asked about the call. */
  async asking(label: string): Promise<CallState> {
    await until(`${label} waits`, async () => {
      const { active } = await this.runtime.state(this.session);
      return active?.calls.some((one) => one.label === label && one.phase === 'asking') === true;
    });
    return this.call(label);
  }

  async decide(
    label: string,
    decision: { readonly do: 'approve' } | { readonly do: 'reject' } = { do: 'approve' },
  ): Promise<void> {
    const { id, digest } = await this.asking(label);
    if (digest === undefined) throw new Error(`${label} has no digest`);
    await this.runtime.decide({
      session: this.session,
      call: id,
      digest,
      decision,
      by: { kind: 'person', name: 'user-1' },
    });
  }

  /** What the model was told of its calls in the n-th request, from 1. */
  request(n: number): string {
    const body = this.heard[n - 1];
    if (body === undefined) throw new Error(`there were ${this.heard.length} requests, not ${n}`);
    return body;
  }

  async idOf(label: string): Promise<CallId | undefined> {
    for (const { type, data } of await this.events())
      if ((type === 'call.proposed' || type === 'call.rejected') && data.label === label) return data.call;
    return undefined;
  }

  async later(ms: number): Promise<void> {
    await calm();
    this.clock.advance(ms);
    await calm();
  }

  #scripted(): Model {
    const { definition, encoder } = scriptedModel({ name: 'field', steps: [] });
    return {
      definition,
      encoder,
      send: async (request) => {
        this.heard.push(request.body());
        await this.onAsked();
        const reply = this.#replies.shift() ?? { text: 'No further answer is scripted.' };
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    };
  }
}
