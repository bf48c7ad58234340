/** A session in a process in which a fault plan is in force. */
import { onTestFinished } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import { FaultPlan, faultPlanSchema, faultWords, type Fault } from '../../src/suite/fault-plan.ts';
import type { Rest } from '../../src/worker/rest.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { audit } from '../kit/audit.ts';
import { calm, seededRandom, until } from '../kit/clock.ts';
import { CutStore } from '../kit/cut-store.ts';
import { Stage } from '../kit/stage.ts';
import type { Behaviour } from '../kit/world.ts';

export type Written = Omit<Fault, 'occurrence'> & { readonly occurrence?: number };

/** A session whose model calls one tool and is then done, in a process in which the plan is in force. */
export class Planned {
  readonly stage: Stage;
  readonly plan: FaultPlan;
  readonly died: Fault[] = [];
  readonly #store: CutStore;
  #runtime: Runtime | undefined;

  constructor(
    faults: readonly Written[],
    call: { readonly tool: string; readonly doing?: Behaviour } = { tool: 'once' },
    options: ConstructorParameters<typeof Stage>[0] = {},
  ) {
    const { tool, doing = 'ok' } = call;
    this.stage = new Stage({
      says: (_, step) => (step === 1 ? { calls: [{ tool, args: { do: doing, n: 1 } }] } : { text: 'Done.' }),
      ...options,
    });
    this.#store = new CutStore(this.stage.store);
    this.plan = new FaultPlan(faultPlanSchema.parse(faults), {
      clock: this.stage.clock,
      die: (fault) => {
        this.died.push(fault);
        // A dead process appends nothing, whatever its timers do.
        this.#store.cut();
        return new Promise(() => undefined);
      },
    });
    onTestFinished(async () => {
      const closed = this.#runtime?.close({ drainMs: 0 });
      this.stage.clock.advance(0);
      await closed;
    });
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('not open');
    return this.#runtime;
  }

  async open(): Promise<Runtime> {
    const { agent, clock } = this.stage;
    this.#runtime = await openRuntime({
      store: this.#store,
      agents: [agent],
      clock,
      random: seededRandom(7),
      faults: this.plan,
    });
    return this.#runtime;
  }

  async send(): Promise<string> {
    const runtime = await this.open();
    return (await runtime.send({ agent: 'clerk', message: 'Do it.', key: 'key-1' })).session;
  }

  /** To the end of the turn, whatever has to be waited for. */
  async rest(session: string): Promise<Rest> {
    let rest: Rest | undefined;
    void this.runtime.rest(session).then((rested) => (rest = rested));
    await until('the session rests', async () => {
      await calm();
      if (!rest) this.stage.clock.advance(50);
      return rest !== undefined;
    });
    if (!rest) throw new Error('unreachable');
    // Nothing that was planned is missing, and the log is what the runtime promises whatever went wrong.
    const [missing] = this.plan.unfired();
    if (missing) throw new Error(`This was not reached: ${faultWords(missing)}`);
    await audit(this.stage, session, await this.runtime.state(session));
    return rest;
  }

  async run(): Promise<Rest> {
    return this.rest(await this.send());
  }

  events(session: string): Promise<readonly LogEvent[]> {
    return this.stage.events(session);
  }

  get executions(): number {
    return this.stage.world.executions.length;
  }
}
