/** A runtime over a store in memory, a clock that is told when to move, a world that keeps count, and a model that is heard. */
import { onTestFinished } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { Limits, Policy } from '../../src/event/definition.ts';
import type { CallId } from '../../src/event/call-id.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { Model } from '../../src/model/model.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { knownCalls, type CallState, type SessionState } from '../../src/session/state.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import type { Channel } from '../../src/worker/notifier.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import type { WorkLimits } from '../../src/worker/work-limits.ts';
import { FakeClock, seededRandom, until } from './clock.ts';
import { CutStore } from './cut-store.ts';
import { World } from './world.ts';

/** One request as the model was given it. */
export type Heard = {
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  readonly body: string;
};

export type StageOptions = {
  /** What the model answers, by turn and step. */
  readonly says?: (turn: number, step: number, attempt: number) => ScriptReply;
  readonly tools?: (world: World) => readonly Tool[];
  readonly policy?: Policy;
  readonly limits?: Partial<Limits>;
  readonly store?: LogStore;
  readonly notify?: readonly Channel[];
};

export const ALL_RUN: Policy = { rules: [{ id: 'all', do: 'allow' }] };

const TOOLS = (world: World): readonly Tool[] => [
  world.tool('none', 'none'),
  world.tool('idempotent', 'idempotent'),
  world.tool('reconcilable', 'reconcilable'),
  world.tool('once', 'once'),
];

export class Stage {
  readonly clock: FakeClock = new FakeClock();
  readonly world: World = new World(this.clock);
  readonly store: LogStore;
  readonly heard: Heard[] = [];
  /** What a runtime said to its operator; a test that expects none asserts that. */
  readonly warnings: string[] = [];
  readonly agent: Agent;
  readonly #notify: readonly Channel[];
  readonly #random = seededRandom(7);
  readonly #open: { runtime: Runtime; store: CutStore }[] = [];

  constructor({
    says = () => ({ text: 'Done.' }),
    tools = TOOLS,
    policy = ALL_RUN,
    limits = {},
    store,
    notify = [],
  }: StageOptions = {}) {
    this.#notify = notify;
    this.store = store ?? new MemoryLog();
    this.agent = defineAgent({
      name: 'clerk',
      instructions: 'Be exact.',
      model: this.#model(says),
      tools: tools(this.world),
      policy,
      limits,
    });
    onTestFinished(() => this.close());
  }

  /** The runtime that was opened last. */
  get runtime(): Runtime {
    const last = this.#open.at(-1);
    if (!last) throw new Error('no runtime is open');
    return last.runtime;
  }

  async open(
    options: { drive?: boolean; agent?: Agent; telemetry?: Telemetry; limits?: WorkLimits } = {},
  ): Promise<Runtime> {
    const store = new CutStore(this.store);
    const runtime = await openRuntime({
      store,
      agents: [options.agent ?? this.agent],
      clock: this.clock,
      random: this.#random,
      drive: options.drive ?? true,
      ...(options.limits && { limits: options.limits }),
      notify: this.#notify,
      ...(options.telemetry && { telemetry: options.telemetry }),
      log: { info: () => undefined, warn: (message) => void this.warnings.push(message) },
    });
    this.#open.push({ runtime, store });
    return runtime;
  }

  /** The process of the last runtime is gone: from now on, or within its `inAppends`-th append. */
  crash(inAppends?: number): void {
    const store = this.#open.at(-1)?.store;
    if (inAppends === undefined) store?.cut();
    else store?.cutAfter(inAppends);
  }

  get isCrashed(): boolean {
    return this.#open.at(-1)?.store.isCut ?? false;
  }

  async close(): Promise<void> {
    for (const { runtime, store } of this.#open.splice(0)) {
      store.cut();
      const closed = runtime.close({ drainMs: 0 });
      this.clock.advance(0);
      await closed;
    }
  }

  async events(session: string): Promise<readonly LogEvent[]> {
    return (await this.store.read(session)).map(open);
  }

  async types(session: string): Promise<readonly string[]> {
    return (await this.events(session)).map((event) => event.type);
  }

  async state(session: string): Promise<SessionState> {
    return this.runtime.state(session);
  }

  /** Sends a message to a new session and waits until the log says what is asked for. */
  async send(message = 'Do it.'): Promise<string> {
    return (await this.runtime.send({ agent: 'clerk', message })).session;
  }

  /** Waits, without letting the clock move, until an event is in the log. */
  async event(session: string, what: string | ((event: LogEvent) => boolean)): Promise<LogEvent> {
    const fits = typeof what === 'string' ? (event: LogEvent): boolean => event.type === what : what;
    let found: LogEvent | undefined;
    await until(`the event ${typeof what === 'string' ? what : ''} in ${session}`, async () => {
      found = (await this.events(session)).find(fits);
      return found !== undefined;
    });
    if (!found) throw new Error('unreachable');
    return found;
  }

  /** Waits until the calls wait for a person. */
  async asking(session: string, ...ids: readonly CallId[]): Promise<readonly CallState[]> {
    let calls: readonly CallState[] = [];
    await until(`calls ${ids.join(', ')} wait`, async () => {
      calls = knownCalls(await this.runtime.state(session)).filter((call) => call.phase === 'asking');
      return ids.every((id) => calls.some((call) => call.id === id));
    });
    return ids.flatMap((id) => calls.find((call) => call.id === id) ?? []);
  }

  expectNoWarnings(): void {
    if (this.warnings.length > 0) throw new Error(`A runtime warned: ${this.warnings.join(' | ')}`);
  }

  #model(says: NonNullable<StageOptions['says']>): Model {
    const { definition, encoder } = scriptedModel({ name: 'stage', steps: [] });
    return {
      definition,
      encoder,
      send: async (request) => {
        const { turn, step, attempt } = request;
        this.heard.push({ turn, step, attempt, body: request.body() });
        const reply = says(turn, step, attempt);
        // A script of its own for each request: the reply does not depend on how many came before.
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    };
  }
}
