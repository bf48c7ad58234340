/**
 * The same request is sent again: while it runs, at the same moment, from another client, with another body, after
 * it ended, after the process was stopped. Then the same question one level down: a tool has acted, and its result
 * was never saved.
 */
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import type { EventView } from '../../src/client.ts';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable, typesOf } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { Gate } from '../kit/gate.ts';
import { WAIT_SECONDS, type Answer, type Machine, type Server } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { ChatProvider } from '../kit/provider.ts';
import { Service } from '../kit/service.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '4-a-retry-needs-a-name';
const AT_ONCE = 10;

/** What the messages are about, and so the tags of the calls. */
const BILL = 'bill 7';
const KNOWS = 'a service that knows the key';
const FORGETS = 'a service that forgot it';

type Row = { readonly when: string; readonly key: string; readonly body: string; readonly answer: Answer };

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const stage = await Stage.open(bench);
  const first = await stage.serve();
  const trial = new Trial(stage);
  await trial.firstProcess(first);
  const held = await trial.heldAfterTheEffect(first);
  await first.kill();
  const second = await stage.serve();
  const ended = await trial.afterRestart(second, held);
  drawAnswers(trial.rows, findings);
  drawCalls({ stage, held, ended }, findings);
  await claims({ stage, trial, server: second, ended }, findings);
  const { session } = sentIn(trial.rows[0]);
  findings.file('events.txt', eventTable(await eventsOf(second, session)));
  findings.file('requests/1.json', await second.request(session, 1));
  findings.file('answers.txt', `${trial.rows.map(({ answer }) => masked(answer.text)).join('\n')}\n`);
  findings.bundle('one-turn.onrecord', await second.bundle(session));
  findings.bundle('forgotten-key.onrecord', await second.bundle(held[FORGETS] ?? ''));
};

class Stage {
  readonly service: Service;
  /** Keeps the answer to the first request of all. */
  readonly answer: Gate;
  readonly effects: Gate;
  readonly #machine: Machine;
  /** The token of a second client. */
  readonly other: string;

  private constructor(
    { service, answer, effects, other }: Pick<Stage, 'service' | 'answer' | 'effects' | 'other'>,
    machine: Machine,
  ) {
    this.other = other;
    this.service = service;
    this.answer = answer;
    this.effects = effects;
    this.#machine = machine;
  }

  static async open(bench: Bench): Promise<Stage> {
    const [answer, effects] = [new Gate(), new Gate()];
    const provider = bench.closing(
      await ChatProvider.open(({ messages, before }) => {
        const tag = messages.find(({ role }) => role === 'user')?.content;
        if (messages.at(-1)?.role === 'tool') return { text: 'Paid.' };
        return {
          text: 'I pay.',
          calls: [{ tool: 'pay', args: { tag } }],
          ...(before === 0 && { midway: answer }),
        };
      }),
    );
    const held = new Set<string>();
    const service = bench.closing(
      await Service.open({
        knowsKeys: ({ tag }) => tag !== FORGETS,
        holds: ({ tag }) => {
          if (tag === BILL || held.has(tag)) return undefined;
          held.add(tag);
          return { where: 'after', gate: effects };
        },
      }),
    );
    const env = { NOTE_PROVIDER: provider.url, NOTE_SERVICE: service.url };
    const machine = bench.machine(NAME, { env });
    const added = ['tokens', 'add', 'shop', '--program', '--roles', 'submit,read', '--json'];
    const { token: other } = JSON.parse(await machine.onrecord(added)) as { readonly token: string };
    return new Stage({ service, answer, effects, other }, machine);
  }

  serve(): Promise<Server> {
    return this.#machine.serve();
  }
}

const body = (message: string): object => ({ agent: 'clerk', message });

const post = (
  server: Server,
  key: string | undefined,
  message: string,
  more: { readonly token?: string; readonly wait?: number } = {},
): Promise<Answer> =>
  server.http('POST', '/sessions', { body: body(message), ...(key !== undefined && { key }), ...more });

class Trial {
  readonly rows: Row[] = [];
  /** Answers to requests that were sent at one moment under one key. */
  atOnce: readonly Answer[] = [];
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  #row(when: string, key: string, text: string, answer: Answer): void {
    this.rows.push({ when, key, body: text, answer });
  }

  async firstProcess(server: Server): Promise<void> {
    const { answer, other: token } = this.#stage;
    this.#row('the first time', 'ticket-118', BILL, await post(server, 'ticket-118', BILL));
    await answer.arrived();
    this.#row('again, while it runs', 'ticket-118', BILL, await post(server, 'ticket-118', BILL));
    this.#row('by another client', 'ticket-118', BILL, await post(server, 'ticket-118', BILL, { token }));
    this.#row('with another body', 'ticket-118', 'bill 8', await post(server, 'ticket-118', 'bill 8'));
    this.#row('without a key', '', BILL, await post(server, undefined, BILL));
    this.#row('the same body, another key', 'ticket-119', BILL, await post(server, 'ticket-119', BILL));
    this.atOnce = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) =>
        post(server, 'ticket-120', BILL, i % 2 === 0 ? {} : { token }),
      ),
    );
    answer.open();
    // All three turns: none of them is to be at work when the process is stopped.
    for (const text of new Set([...this.rows.map((row) => row.answer.text), this.atOnce[0]?.text ?? ''])) {
      const { session } = JSON.parse(text) as Partial<Sent>;
      if (session !== undefined) equal((await server.client.turn(session, 1, WAIT_SECONDS)).text, 'Paid.');
    }
    this.#row('after it has ended', 'ticket-118', BILL, await post(server, 'ticket-118', BILL));
  }

  /** Two turns whose tool has acted, while its answer is kept from it. */
  async heldAfterTheEffect(server: Server): Promise<Readonly<Record<string, string>>> {
    const sessions: Record<string, string> = {};
    for (const tag of [KNOWS, FORGETS]) {
      const answer = await post(server, `pay-${tag.length}`, tag);
      sessions[tag] = (JSON.parse(answer.text) as { readonly session: string }).session;
    }
    await this.#stage.effects.arrived(2);
    return sessions;
  }

  async afterRestart(
    server: Server,
    held: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, readonly EventView[]>>> {
    this.#row(
      'after SIGKILL, to the next process',
      'ticket-118',
      BILL,
      await post(server, 'ticket-118', BILL),
    );
    const ended: Record<string, readonly EventView[]> = {};
    for (const [tag, session] of Object.entries(held)) {
      equal((await server.client.turn(session, 1, WAIT_SECONDS)).text, 'Paid.');
      ended[tag] = await eventsOf(server, session);
    }
    return ended;
  }
}

type Sent = { readonly session: string; readonly turn: number };

const sentIn = (row: Row | undefined): Sent => JSON.parse(row?.answer.text ?? '{}') as Sent;

const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';

const masked = (text: string): string => text.replaceAll(/s_[0-9A-Z]+/g, 's_SESSION');

const drawAnswers = (rows: readonly Row[], findings: Findings): void => {
  const sessions = new Map<string, string>();
  const named = (session: string): string => {
    if (!sessions.has(session)) sessions.set(session, 'ABC'[sessions.size] ?? '?');
    return `${sessions.get(session)}, turn 1`;
  };
  const told = ({ answer }: Row): readonly string[] => {
    const { session, code } = JSON.parse(answer.text) as { session?: string; code?: string };
    return session === undefined
      ? [code ?? '', '']
      : [named(session), isReplayed(answer) ? 'idempotent-replayed' : 'new'];
  };
  findings.piece(
    'answers',
    textTable([
      ['the message is sent', 'key', 'body', 'status', 'it is', ''],
      ...rows.map((row) => [row.when, row.key, row.body, `${row.answer.status}`, ...told(row)]),
    ]),
  );
};

type Ended = {
  readonly stage: Stage;
  readonly held: Readonly<Record<string, string>>;
  readonly ended: Readonly<Record<string, readonly EventView[]>>;
};

const drawCalls = ({ stage, held, ended }: Ended, findings: Findings): void => {
  const rows = Object.keys(held).map((tag) => {
    const seen = stage.service.requests.filter((one) => one.tag === tag);
    const did = stage.service.deeds.filter((one) => one.tag === tag).length;
    const started = typesOf(ended[tag] ?? []).filter((type) => type === 'call.started').length;
    const keys = new Set(seen.map(({ key }) => key)).size;
    return [tag, `${started}`, `${keys}`, `${seen.length}`, `${did}`];
  });
  findings.piece(
    'calls',
    textTable([['call 1.1.1 of', '>started', '>keys', '>arrived', '>bills paid'], ...rows]),
  );
};

type Seen = {
  readonly stage: Stage;
  readonly trial: Trial;
  readonly server: Server;
  readonly ended: Ended['ended'];
};

const claims = async ({ stage, trial, server, ended }: Seen, findings: Findings): Promise<void> => {
  const { rows, atOnce } = trial;
  const [first, running, other, changed, unnamed, otherKey, after, restarted] = rows;
  const { session } = sentIn(first);
  const events = await eventsOf(server, session);
  const all = await Array.fromAsync(server.client.sessions());
  findings.figure(`${AT_ONCE} requests`);
  findings.shown('the same key and body is the same turn', 'while it runs, after it, after a restart', () => {
    for (const row of [running, other, after, restarted]) {
      deepEqual(sentIn(row), sentIn(first));
      ok(row && isReplayed(row.answer));
    }
  });
  findings.shown('it was worked once', 'one turn.accepted, one payment', () => {
    equal(typesOf(events).filter((type) => type === 'turn.accepted').length, 1);
    equal(stage.service.requests.filter(({ tag }) => tag === BILL).length, 3, 'one for each key');
  });
  findings.shown('requests at one moment are one turn', `${AT_ONCE} at once, by two clients`, () => {
    equal(new Set(atOnce.map(({ text }) => text)).size, 1);
    equal(atOnce.filter((answer) => !isReplayed(answer)).length, 1);
  });
  findings.shown('another body under the same key is refused', 'its status and code', () => {
    equal(changed?.answer.status, 422);
    match(changed.answer.text, /"idempotency-key-reused"/);
  });
  findings.shown('what was refused left nothing', 'the sessions of the store', () => {
    equal(unnamed?.answer.status, 400);
    equal(all.length, 5);
  });
  findings.shown('another key is another turn, with the same words', 'two sessions', () => {
    notEqual(sentIn(otherKey).session, session);
  });
  findings.shown('a call keeps its key over attempts and processes', 'what the service was told', () => {
    for (const tag of [KNOWS, FORGETS])
      equal(new Set(stage.service.requests.filter((one) => one.tag === tag).map(({ key }) => key)).size, 1);
  });
  findings.shown('the record does not show that a bill was paid twice', 'both records, line by line', () => {
    const [one, two] = [ended[KNOWS] ?? [], ended[FORGETS] ?? []].map((list) => typesOf(list));
    deepEqual(one, two);
    equal(stage.service.deeds.filter(({ tag }) => tag === FORGETS).length, 2);
  });
  findings.notShown('keys of somebody else’s proxy or client', 'a name is theirs to keep');
};

export const note: Note = { number: 4, name: NAME, run };
