/**
 * One turn, five processes. Each is stopped with SIGKILL at another place, and the next one starts in an empty
 * folder: what it knows it has from PostgreSQL. A second session is stopped in the same place as the first, but in
 * another world: there the effects had not happened yet.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { EventView } from '../../src/client.ts';
import type { Bench } from '../kit/bench.ts';
import { eventLine, eventsOf, eventsUntil, eventTable, typesOf } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { Gate } from '../kit/gate.ts';
import { WAIT_SECONDS, type Server } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { ChatProvider, type ChatRule } from '../kit/provider.ts';
import { Service } from '../kit/service.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '2-what-survives-a-restart';

/** The tools of one step, by their effect kind. */
const TOOLS = {
  'stock.read': 'none',
  'stock.set': 'idempotent',
  'order.file': 'reconcilable',
  'driver.ring': 'once',
} as const;
const NAMES = Object.keys(TOOLS) as readonly (keyof typeof TOOLS)[];
const CALLS = NAMES.map((_, i) => `1.1.${i + 1}`);
const INVOICE = '1.2.1';

/** The two worlds: the effects had happened when the process was stopped, or they had not. */
const WORLDS = ['happened', 'not yet'] as const;
type World = (typeof WORLDS)[number];

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const store = await bench.postgres();
  if ('missing' in store) {
    findings.without('a real PostgreSQL', store.missing, ['deaths', 'records', 'kinds']);
    return;
  }
  const stage = await Stage.open(bench, store.url);
  const trial = await new Trial(stage).run();
  drawDeaths(trial, findings);
  drawRecords(trial, findings);
  drawKinds(stage, trial, findings);
  claims(stage, trial, findings);
  findings.varying('events-happened.txt', eventTable(trial.ended.happened));
  findings.varying('events-not-yet.txt', eventTable(trial.ended['not yet']));
  findings.file('requests/1-and-again.json', stage.provider.requests[0] ?? '');
  findings.bundle('happened.onrecord', trial.bundles.happened);
  findings.bundle('not-yet.onrecord', trial.bundles['not yet']);
};

/** What stands outside: the provider, the service, and the gates at which they keep who comes. */
class Stage {
  readonly provider: ChatProvider;
  readonly service: Service;
  readonly gates: Gates;
  readonly #bench: Bench;
  readonly #store: string;
  #server: Server | undefined;

  private constructor(bench: Bench, store: string, world: Pick<Stage, 'provider' | 'service' | 'gates'>) {
    this.#bench = bench;
    this.#store = store;
    this.provider = world.provider;
    this.service = world.service;
    this.gates = world.gates;
  }

  static async open(bench: Bench, store: string): Promise<Stage> {
    const gates = new Gates();
    const provider = bench.closing(await ChatProvider.open(gates.rule));
    const service = bench.closing(
      await Service.open({
        knowsKeys: ({ what }) => what !== 'driver.ring',
        holds: ({ what, tag }) => gates.holds(what, tag as World),
      }),
    );
    return new Stage(bench, store, { provider, service, gates });
  }

  /** A process on a machine that has never seen anything. */
  async next(...options: readonly string[]): Promise<Server> {
    const machine = this.#bench.machine(NAME, {
      store: this.#store,
      env: { NOTE_PROVIDER: this.provider.url, NOTE_SERVICE: this.service.url },
    });
    this.#server = await machine.serve(...options);
    return this.#server;
  }

  async kill(): Promise<void> {
    await this.#server?.kill();
  }
}

class Gates {
  readonly midway = new Gate();
  readonly tools: Record<World, Gate> = { happened: new Gate(), 'not yet': new Gate() };
  readonly #held = new Set<string>();

  readonly rule: ChatRule = ({ messages, before }) => {
    const tag = messages.find(({ role }) => role === 'user')?.content;
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (results === 0)
      return {
        text: 'I do all four.',
        calls: NAMES.map((tool) => ({ tool: tool.replace('.', '__'), args: { tag } })),
        ...(before === 0 && { midway: this.midway }),
      };
    if (results === NAMES.length) return { calls: [{ tool: 'invoice__send', args: { tag } }] };
    return { text: 'All is done.' };
  };

  /** Everything is kept once. */
  holds(what: string, tag: World): { readonly where: 'before' | 'after'; readonly gate: Gate } | undefined {
    const name = `${what} ${tag}`;
    if (this.#held.has(name)) return undefined;
    if (what === 'invoice.send') return undefined;
    this.#held.add(name);
    return { where: tag === 'happened' ? 'after' : 'before', gate: this.tools[tag] };
  }
}

type Trialled = {
  /** How far the first session's record had come when each process was stopped. */
  readonly heads: readonly number[];
  /** Both records when the third process was stopped, and at the end. */
  readonly stopped: Record<World, readonly EventView[]>;
  readonly ended: Record<World, readonly EventView[]>;
  readonly bundles: Record<World, string>;
  /** What a person was shown before the last stop and after it. */
  readonly asked: readonly { readonly digest: unknown }[];
  readonly proved: readonly boolean[];
};

class Trial {
  readonly #stage: Stage;
  readonly #heads: number[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async run(): Promise<Trialled> {
    const stage = this.#stage;
    const happened = await this.#accepted();
    await this.#duringTheAnswer(happened);
    const { session: notYet, stopped } = await this.#betweenEffectAndRecord(happened);
    const before = await this.#whileWaiting(happened, notYet);
    const server = await stage.next();
    const [after] = await server.client.approvals(happened);
    for (const session of [happened, notYet]) {
      const [card] = await server.client.approvals(session);
      const digest = card?.['digest'] as never;
      await server.client.decide(session, INVOICE, { digest, decision: { do: 'approve' } }, { key: 'yes' });
      equal((await server.client.turn(session, 1, WAIT_SECONDS)).text, 'All is done.');
    }
    this.#heads.push((await server.client.session(happened)).head);
    const both = async <T>(of: (session: string) => Promise<T>): Promise<Record<World, T>> => ({
      happened: await of(happened),
      'not yet': await of(notYet),
    });
    return {
      heads: this.#heads,
      stopped,
      ended: await both((session) => eventsOf(server, session)),
      bundles: await both((session) => server.bundle(session)),
      asked: [{ digest: before }, { digest: after?.['digest'] }],
      proved: Object.values(await both(async (session) => (await server.client.verify(session)).proved)),
    };
  }

  async #stop(server: Server, session: string): Promise<void> {
    this.#heads.push((await server.client.session(session)).head);
    await this.#stage.kill();
  }

  /** Takes the message and works on nothing: it is stopped before there is a request. */
  async #accepted(): Promise<string> {
    const server = await this.#stage.next('--no-drive');
    const sent = await server.client.createSession({ agent: 'clerk', message: 'happened' }, { key: 'one' });
    await this.#stop(server, sent.session);
    return sent.session;
  }

  async #duringTheAnswer(session: string): Promise<void> {
    const server = await this.#stage.next();
    await this.#stage.gates.midway.arrived();
    await this.#stop(server, session);
  }

  async #betweenEffectAndRecord(
    happened: string,
  ): Promise<{ readonly session: string; readonly stopped: Trialled['stopped'] }> {
    const { tools } = this.#stage.gates;
    const server = await this.#stage.next();
    await tools.happened.arrived(NAMES.length);
    const { session } = await server.client.createSession(
      { agent: 'clerk', message: 'not yet' },
      { key: 'two' },
    );
    await tools['not yet'].arrived(NAMES.length);
    const stopped = {
      happened: await eventsOf(server, happened),
      'not yet': await eventsOf(server, session),
    };
    await this.#stop(server, happened);
    return { session, stopped };
  }

  /** A person says what became of the calls in doubt; then the turn waits for a decision, and the process is stopped. */
  async #whileWaiting(happened: string, notYet: string): Promise<unknown> {
    const server = await this.#stage.next();
    for (const session of [happened, notYet]) {
      await eventsUntil(server, session, (events) => closed(events) === NAMES.length - 1);
      await server.client.turn(session, 1, WAIT_SECONDS);
      const [doubt] = await server.client.doubts(session);
      equal(doubt?.tool, 'driver.ring');
      const settlement =
        session === happened
          ? ({ answer: 'happened', content: [{ type: 'text', text: 'The driver came.' }] } as const)
          : ({ answer: 'not-happened' } as const);
      await server.client.settle(session, doubt?.call ?? '', { settlement }, { key: 'said' });
      equal((await server.client.turn(session, 1, WAIT_SECONDS)).state, 'waiting');
    }
    const [card] = await server.client.approvals(happened);
    await this.#stop(server, happened);
    return card?.['digest'];
  }
}

/** Calls of the first step that have a result. */
const closed = (events: readonly EventView[]): number =>
  new Set(
    events.flatMap(({ type, data }) => {
      const told =
        type === 'call.result' ||
        (type === 'call.reconciled' && (data['answer'] as { happened?: unknown }).happened === true);
      return told && typeof data['call'] === 'string' ? [data['call']] : [];
    }),
  ).size;

const DEATHS = [
  ['takes the message', 'nothing had been sent'],
  ['sends the request', 'half of the answer had come'],
  ['sends it again, starts four calls', 'they had happened, unrecorded'],
  ['settles them, asks a person', 'the question waited'],
  ['hears the decision', 'not: it ends the turn'],
] as const;

const drawDeaths = ({ heads, ended }: Trialled, findings: Findings): void => {
  const rows = heads.map((head, i) => {
    const from = (heads[i - 1] ?? 0) + 1;
    const [does = '', stopped = ''] = DEATHS[i] ?? [];
    const taken = ended.happened.slice(from - 1, head).some(({ type }) => type === 'driver.changed');
    return [`${i + 1}`, `${from}-${head}`, does, stopped, taken ? 'a lost process' : ''];
  });
  findings.piece(
    'deaths',
    textTable([['process', 'events', 'does', 'SIGKILL when', 'records first'], ...rows]),
  );
};

/** The two records as they stood when the third process was stopped. */
const drawRecords = ({ stopped }: Trialled, findings: Findings): void => {
  const [one, other] = WORLDS.map((world) => tail(stopped[world]));
  const rows = (one ?? []).map((line, i) => [line, line === other?.[i] ? '=' : '≠', other?.[i] ?? '']);
  findings.piece('records', textTable([['the effects had happened', '', 'they had not'], ...rows]));
};

/** What was recorded from the answer on. */
const tail = (events: readonly EventView[]): readonly string[] => {
  const from = typesOf(events).indexOf('response.received');
  return events.slice(from).map((event) => eventLine(event).replaceAll(/ attempt \d+/g, ''));
};

const drawKinds = ({ service }: Stage, { ended }: Trialled, findings: Findings): void => {
  const rows = WORLDS.flatMap((world) =>
    NAMES.map((tool, i) => {
      const seen = service.requests.filter(({ what, tag }) => what === tool && tag === world);
      const did = service.deeds.filter(({ what, tag }) => what === tool && tag === world);
      const keys = new Set(seen.map(({ key }) => key));
      equal(keys.size, 1, 'a call has one key');
      const changed = tool === 'stock.read' ? '-' : String(did.length);
      return [world, tool, TOOLS[tool], after(ended[world], CALLS[i] ?? ''), String(seen.length), changed];
    }),
  );
  findings.piece(
    'kinds',
    textTable([
      ['the effect', 'tool', 'kind', 'what its replacement did', '>the service was asked', '>and did it'],
      ...rows,
    ]),
  );
};

/** What became of a call after its first start, in the words of the record. */
const after = (events: readonly EventView[], call: string): string => {
  const started = events.findIndex(({ type, data }) => type === 'call.started' && data['call'] === call);
  const then = events.slice(started + 1).filter(({ data }) => data['call'] === call);
  return then.flatMap(deed).join(', ');
};

const deed = ({ type, data }: EventView): readonly string[] => {
  switch (type) {
    case 'call.started':
      return ['ran it again'];
    case 'call.reconciled':
      return [`asked the service: ${(data['answer'] as { happened: boolean }).happened ? 'yes' : 'no'}`];
    case 'call.settled':
      return [
        `asked a person: ${(data['settlement'] as { answer: string }).answer === 'happened' ? 'yes' : 'no'}`,
      ];
    default:
      return [];
  }
};

const claims = ({ provider, service }: Stage, trial: Trialled, findings: Findings): void => {
  const { stopped, ended, asked, proved } = trial;
  const rung = (world: World): number =>
    service.requests.filter(({ what, tag }) => what === 'driver.ring' && tag === world).length;
  findings.figure(`${ended.happened.length} events`);
  findings.shown('five processes made one turn', 'one turn.accepted, one turn.ended', () => {
    for (const type of ['turn.accepted', 'turn.ended'])
      equal(typesOf(ended.happened).filter((one) => one === type).length, 1);
  });
  findings.shown('a lost answer is asked for with the same bytes', 'what the provider was sent', () => {
    equal(provider.requests[0], provider.requests[1]);
  });
  findings.shown(
    'the record is the same whether the effects had happened or not',
    'both, line by line',
    () => {
      deepEqual(tail(stopped.happened), tail(stopped['not yet']));
      equal(
        service.deeds.some(({ tag }) => tag === 'happened'),
        true,
      );
    },
  );
  findings.shown('no effect happened twice', 'what the service did, by call', () => {
    const done = service.deeds
      .filter(({ what }) => what !== 'stock.read')
      .map(({ what, tag }) => `${what} ${tag}`);
    equal(new Set(done).size, done.length);
    equal(done.length, 2 * (NAMES.length - 1) + 2);
  });
  findings.shown('a `once` call was not run again by itself', 'how often the driver was rung', () => {
    equal(rung('happened'), 1);
    equal(
      rung('not yet'),
      2,
      'once before it was stopped, once after a person said that it had not happened',
    );
  });
  findings.shown('the question was the same after the stop', 'the digest that a decision names', () => {
    ok(typeof asked[0]?.digest === 'string');
    equal(asked[0]?.digest, asked[1]?.digest);
  });
  findings.shown('both records prove themselves', 'verify behind the door', () =>
    deepEqual(proved, [true, true]),
  );
  findings.notShown('a machine that loses its power', 'here the disk survives its process');
  findings.notShown('a PostgreSQL that fails over', 'see docs/postgres.md');
};

export const note: Note = { number: 2, name: NAME, run };
