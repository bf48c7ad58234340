/**
 * One history from one seed: the real core, driver and runtime on a simulated store, clock, model, world and
 * people, with crashes, unsure commits, delays and repeated commands. First faults, then everything heals and
 * must come to rest; then the invariants are checked against the world's own memory.
 */
import { MemoryLog } from '../../log/memory.ts';
import { open } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import type { Mode } from '../../event/definition.ts';
import { evolve, initial } from '../../session/evolve.ts';
import type { SessionState } from '../../session/state.ts';
import { defineAgent, type Agent } from '../../worker/agent.ts';
import type { Faults } from '../../worker/fault-point.ts';
import { Runtime } from '../../worker/runtime.ts';
import { Dice } from './dice.ts';
import { faultyStore, never, type Life, type StoreFaults } from './faulty-store.ts';
import { forkViolations, violations, type Violation } from './invariants.ts';
import { oracleModel } from './oracle-model.ts';
import { GateWatch } from './gate-watch.ts';
import { act, type Stage } from './people.ts';
import { regimeOf, type Deployment, type Regime } from './regime.ts';
import { VirtualClock } from './virtual-clock.ts';
import { World, type Executed } from './world.ts';

/** 1 January 2026, UTC. */
const START_MS = 1_767_225_600_000;
const ACTIONS_MAX = 60;
/** Rounds after the faults have stopped; a session that does not rest by then is stuck. */
const HEAL_ROUNDS_MAX = 400;
const HEAL_STEP_MS = 60_000;
/** So that the dice of a fork are not those of its history. */
const FORK_PRIME = 15_485_863;

export type History = {
  readonly seed: number;
  readonly events: number;
  readonly effects: number;
  readonly crashes: number;
  readonly inDoubt: number;
  readonly asked: number;
  readonly violations: readonly Violation[];
};

/** What a seed makes more or less likely: each seed has a weather of its own. */
type Weather = {
  readonly crash: number;
  readonly trouble: number;
  readonly modelFails: number;
  readonly store: StoreFaults;
  readonly jump: number;
  /** A process is stopped and another build started. */
  readonly deploy: number;
  readonly bustle: Stage['bustle'];
};

const weatherOf = (dice: Dice): Weather => {
  const some = (max: number): number => (dice.happens(0.5) ? dice.next() * max : 0);
  return {
    crash: some(0.12),
    trouble: some(0.5),
    modelFails: some(0.2),
    store: { slow: some(0.3), fails: some(0.15), unsure: some(0.15), deaf: some(0.8) },
    jump: some(0.1),
    deploy: some(0.1),
    bustle: { modes: some(0.4), world: some(0.3) },
  };
};

export const simulate = async (seed: number): Promise<History> => new Simulation(seed).run();

const count = (events: readonly { readonly body: string }[], type: string): number =>
  events.filter(({ body }) => body.includes(`"type":"${type}"`)).length;

type Node = { readonly life: Life; readonly runtime: Runtime };

export class Simulation implements Stage {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock = new VirtualClock(START_MS);
  readonly log: MemoryLog = new MemoryLog();
  readonly world: World;
  readonly acknowledged: Set<string> = new Set();
  readonly gates: GateWatch;
  session: string = '';
  healed: boolean = false;
  #weather: Weather;
  readonly #regime: Regime;
  #deployed: Deployment;
  #node: Node | undefined;
  #crashes = 0;
  readonly #events: LogEvent[] = [];
  #state: SessionState | undefined;
  readonly #started = new Set<string>();
  readonly #bodies: [string, string][] = [];
  readonly #unannounced: Executed[] = [];
  /** Modes that somebody was told of and that no log holds. */
  readonly #lies: string[] = [];

  constructor(seed: number) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.#weather = weatherOf(this.dice.fork());
    this.#regime = regimeOf(seed);
    this.#deployed = this.dice.pick(this.#regime.deployments);
    this.gates = new GateWatch(this.log, () => this.session);
    this.world = new World(this.dice.fork(), this.clock, { trouble: this.#weather.trouble });
  }

  /** The process that lives now; a new one is started where the last has died. */
  get runtime(): Runtime {
    if (!this.#node || this.#node.life.dead) this.#node = this.#boot();
    return this.#node.runtime;
  }

  async run(): Promise<History> {
    await this.#begin();
    for (let i = this.dice.whole(5, ACTIONS_MAX); i > 0; i--) {
      await act(this);
      await this.#settle();
      if (this.dice.happens(this.#weather.deploy)) this.#deploy();
      if (this.dice.happens(this.#weather.jump)) this.clock.jump(this.dice.whole(-3_600_000, 3_600_000));
    }
    await this.#heal();
    return this.#judge();
  }

  get bustle(): Stage['bustle'] {
    return this.#weather.bustle;
  }

  modeSaid(scope: 'session' | 'store'): Mode {
    return scope === 'store' ? this.gates.mode : this.state.mode.session;
  }

  modesSaid(scope: 'session' | 'store'): number {
    return this.#modesOf(scope).length;
  }

  /** Whoever is told that a mode is set finds it in the log. */
  modeAcknowledged(scope: 'session' | 'store', mode: Mode, since: number): void {
    if (
      !this.#modesOf(scope)
        .slice(since - 1)
        .includes(mode)
    )
      this.#lies.push(`${scope} ${mode}`);
  }

  #modesOf(scope: 'session' | 'store'): readonly Mode[] {
    if (scope === 'store') return this.gates.history;
    void this.state;
    return this.#events.flatMap(({ type, data }) =>
      type === 'session.created'
        ? [data.mode ?? 'normal']
        : type === 'mode.changed' && data.scope === 'session'
          ? [data.mode]
          : [],
    );
  }

  /** The process goes, in whatever it is doing, and the next one may have other rules. */
  #deploy(): void {
    if (this.#node) this.#node.life.dead = true;
    this.#deployed = this.dice.pick(this.#regime.deployments);
  }

  /** The session is there before the weather sets in; what comes then has a key and may be said again. */
  async #begin(): Promise<void> {
    const agents = [this.#agent({ dead: false })];
    const calm = new Runtime({
      store: this.log,
      agents,
      clock: this.clock,
      random: this.dice.fork(),
      drive: false,
    });
    const by = { kind: 'person', name: 'ada' } as const;
    const message = 'The first message.';
    const sent = await calm.send({ agent: 'simulated', message, key: 'key-0', by });
    this.session = sent.session;
    this.acknowledged.add('key-0');
  }

  #boot(): Node {
    const life: Life = { dead: false };
    const agent = this.#agent(life);
    const store = faultyStore(this.log, {
      life,
      dice: this.dice.fork(),
      clock: this.clock,
      faults: this.healed ? { slow: 0, fails: 0, unsure: 0, deaf: 0 } : this.#weather.store,
    });
    const runtime = new Runtime({
      store,
      agents: [agent],
      clock: this.clock,
      random: this.dice.fork(),
      faults: this.#crashing(life),
      isGone: ({ id }) => !this.#alive.has(id),
    });
    // A lease of a process that died is known to be free, as on one machine.
    this.#alive.clear();
    this.#alive.add(runtime.ownerId);
    void runtime.sweep().catch(() => undefined);
    return { life, runtime };
  }

  readonly #alive = new Set<string>();

  #crashing(life: Life): Faults {
    const dice = this.dice.fork();
    return {
      reach: async () => {
        if (!life.dead && !this.healed && dice.happens(this.#weather.crash)) {
          life.dead = true;
          this.#crashes++;
        }
        return life.dead ? never() : undefined;
      },
    };
  }

  #agent(life: Life): Agent {
    return defineAgent({
      name: 'simulated',
      instructions: 'Do what the dice say.',
      model: oracleModel(this.seed, {
        life,
        chance: this.dice.fork(),
        faults: () => ({ fails: this.healed ? 0 : this.#weather.modelFails }),
        onBody: (position, body) => this.#bodies.push([position, body]),
      }),
      tools: this.world.tools(this.#deployed.tools, life, (executed) => this.#checkAnnounced(executed)),
      policy: this.#deployed.policy,
      limits: { stepsPerTurn: 6, invalidCallsInARow: 4 },
    });
  }

  /** The session as the durable log says, whatever any process believes. */
  get state(): SessionState {
    for (const stored of this.log.peek(this.session).slice(this.#events.length)) {
      const event = open(stored);
      this.#events.push(event);
      this.#state = evolve(this.#state ?? initial(this.session), event);
      if (event.type === 'call.started') this.#started.add(`${event.data.call}#${event.data.attempt}`);
    }
    return this.#state ?? initial(this.session);
  }

  /** At the moment a tool begins, its start must stand in the durable log. */
  #checkAnnounced(executed: Executed): void {
    const [, call = ''] = executed.call.split(' ');
    void this.state;
    if (!this.#started.has(`${call}#${executed.attempt}`)) this.#unannounced.push(executed);
  }

  /** Lets all that can run without time passing come to its end. */
  async #settle(): Promise<void> {
    await new Promise<void>((tick) => setImmediate(tick));
  }

  async #heal(): Promise<void> {
    this.healed = true;
    this.world.healed = true;
    if (this.#node) this.#node.life.dead = true;
    for (let round = 0; round < HEAL_ROUNDS_MAX; round++) {
      await this.#settle();
      if (!(await act(this))) return;
      await this.#settle();
      this.clock.advance(HEAL_STEP_MS);
    }
  }

  /** A fork at some event, by dice of its own: the history is the same with it and without. */
  async #branch(events: number): Promise<readonly Violation[]> {
    const at = new Dice(this.seed + FORK_PRIME).whole(1, events);
    const { session, parent } = await this.runtime.fork({
      session: this.session,
      at,
      key: 'fork',
      closeOpen: true,
    });
    return forkViolations(this.log, session, parent.seq);
  }

  async #judge(): Promise<History> {
    const { session, log, world, acknowledged, seed } = this;
    const broken = await violations({
      session,
      log,
      world,
      acknowledged,
      bodies: this.#bodies,
      unannounced: this.#unannounced,
      gates: this.gates,
      lies: this.#lies,
    });
    const events = log.peek(session);
    const branched = await this.#branch(events.length);
    return {
      seed,
      events: events.length,
      effects: world.effects.length,
      crashes: this.#crashes,
      inDoubt: count(events, 'call.doubted'),
      asked: count(events, 'approval.requested'),
      violations: [...broken, ...branched],
    };
  }
}
