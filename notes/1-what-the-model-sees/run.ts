/**
 * Four turns are said. Then the same fifth message is sent on four forks of that one record, and each fork has
 * another opinion of what its request should hold.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { WAIT_SECONDS, type Server } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '1-what-the-model-sees';

const SAID = [
  'The customer is Halden Joinery. The code of their door is 4711.',
  'What does beech cost?',
  'They want oak, not beech.',
  'Then what does oak cost?',
] as const;
const ASKED = 'Write the offer.';
const SECRET = '4711';

/** What is sent on a fork before the message. */
const FORKS = {
  all: undefined,
  'by hand': { path: 'selection', body: { change: { do: 'leave-out', turns: [1] }, reason: 'not theirs' } },
  'by budget': {
    path: 'selection',
    body: { change: { do: 'policy', policy: { kind: 'budget', tokens: 330 } } },
  },
  compacted: { path: 'compaction', body: {} },
} as const;
type Fork = keyof typeof FORKS;
const NAMES = Object.keys(FORKS) as readonly Fork[];

type Part = {
  readonly kind: string;
  readonly seq?: number;
  readonly turn: number;
  readonly label: string;
  readonly state: 'kept' | 'shortened' | 'left-out' | 'summarised';
  readonly reason: string;
};

type Asked = {
  /** The body of the request that the message led to. */
  readonly body: string;
  readonly bundle: string;
  readonly parts: readonly Part[];
};

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const machine = bench.machine(NAME);
  const server = await machine.serve();
  const parent = await said(server);
  const events = await eventsOf(server, parent);
  const before = await server.bundle(parent);
  const next = await machine.onrecord(['context', parent, '--next']);
  findings.piece('next', next.replaceAll(parent, 's_SESSION'));
  const asked = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await ask(server, parent, name)] as const)),
  ) as Record<Fork, Asked>;
  const after = await server.bundle(parent);
  draw(asked, findings);
  sideBySide(asked, findings);
  claims({ before, after, asked }, findings);
  findings.figure(`${events.length} events`);
  findings.file('events.txt', eventTable(events));
  for (const name of NAMES) findings.file(`requests/${fileOf(name)}.json`, asked[name].body);
  findings.bundle('record.onrecord', before);
  findings.bundle('by-hand.onrecord', asked['by hand'].bundle);
  findings.bundle('compacted.onrecord', asked.compacted.bundle);
};

const said = async (server: Server): Promise<string> => {
  let session: string | undefined;
  for (const [i, message] of SAID.entries()) {
    const asking = { key: `say-${i + 1}`, waitSeconds: WAIT_SECONDS };
    const turn = await (session === undefined
      ? server.client.createSession({ agent: 'clerk', message }, asking)
      : server.client.send(session, { message }, asking));
    equal(turn.state, 'done');
    session = turn.session;
  }
  return session ?? '';
};

const ask = async (server: Server, parent: string, name: Fork): Promise<Asked> => {
  const { client } = server;
  const { head } = await client.session(parent);
  const { session } = await client.fork(parent, { at: head }, { key: fileOf(name) });
  const change = FORKS[name];
  if (change) {
    const { status, text } = await server.http('POST', `/sessions/${session}/${change.path}`, {
      body: change.body,
    });
    equal(status, 200, text);
  }
  const turn = await client.send(session, { message: ASKED }, { key: 'offer', waitSeconds: WAIT_SECONDS });
  equal(turn.text, 'The offer is written.');
  const events = await eventsOf(server, session);
  const number = events.filter(({ type }) => type === 'request.built').length;
  const { parts } = await server.json<{ readonly parts: readonly Part[] }>(
    `/sessions/${session}/context?request=${number}`,
  );
  const [body, bundle] = await Promise.all([server.request(session, number), server.bundle(session)]);
  return { body, bundle, parts };
};

const fileOf = (name: Fork): string => name.replace(' ', '-');

const STATE = { kept: '■', shortened: '◧', 'left-out': '·', summarised: '▒' } as const;

/** Which turn of the record stands in which request. */
const draw = (asked: Record<Fork, Asked>, findings: Findings): void => {
  const turns = [1, 2, 3, 4, 5];
  const cell = (name: Fork, turn: number): string => {
    const found = asked[name].parts.filter((part) => part.turn === turn && part.kind !== 'summary');
    return found.map(({ state }) => STATE[state]).join('');
  };
  const summary = (name: Fork): string =>
    asked[name].parts.some(({ kind }) => kind === 'summary') ? '■' : '';
  const size = (name: Fork): string => `${Buffer.byteLength(asked[name].body)}`;
  findings.piece(
    'held',
    textTable([
      ['part of the record', ...NAMES],
      ['instructions, one tool', ...NAMES.map(() => '■■')],
      ...turns.map((turn) => [
        `turn ${turn}  ${words(SAID[turn - 1] ?? ASKED, 30)}`,
        ...NAMES.map((name) => cell(name, turn)),
      ]),
      ['a summary', ...NAMES.map(summary)],
      ['bytes of the request', ...NAMES.map(size)],
      [
        'of them from the start as in “all”',
        ...NAMES.map((name) => `${shared(asked.all.body, asked[name].body)}`),
      ],
      ['sha256 of the request', ...NAMES.map((name) => digest(asked[name].body).slice(0, 8))],
    ]),
  );
};

/** Both requests, an element a line, cut to what fits. */
const sideBySide = ({ all, 'by hand': hand }: Record<Fork, Asked>, findings: Findings): void => {
  const one = elementsOf(all.body);
  const other = elementsOf(hand.body);
  const rows: (readonly string[])[] = [['all', '', 'turn 1 left out by hand']];
  // What was left out are the first elements: the ends of both are the same.
  const gap = one.length - other.length;
  for (const [i, element] of one.entries()) {
    const beside = i < gap ? '' : (other[i - gap] ?? '');
    rows.push([words(element, 46), beside === element ? '=' : '<', words(beside, 46)]);
  }
  findings.piece('side-by-side', textTable(rows));
  findings.figure(`${shared(all.body, hand.body)} bytes`);
};

type Seen = {
  /** Bundles of the record that was forked. */
  readonly before: string;
  readonly after: string;
  readonly asked: Record<Fork, Asked>;
};

const claims = ({ before, after, asked }: Seen, findings: Findings): void => {
  const bodies = NAMES.map((name) => asked[name].body);
  const record = eventsIn(before);
  findings.shown('no selection changed the record that it selects from', 'its bundle, before and after', () =>
    equal(after, before),
  );
  findings.shown('the four forks begin with that record', 'their bundles, line by line', () => {
    for (const name of NAMES) deepEqual(eventsIn(asked[name].bundle).slice(0, record.length), record);
  });
  findings.shown('the same message on the same record made four requests', 'their digests', () => {
    equal(new Set(bodies.map(digest)).size, NAMES.length);
  });
  findings.shown('what was left out is in the record and not in the request', `the code ${SECRET}`, () => {
    ok(asked.all.body.includes(SECRET));
    ok(!asked['by hand'].body.includes(SECRET) && !asked['by budget'].body.includes(SECRET));
    ok(asked['by hand'].bundle.includes(SECRET) && asked['by budget'].bundle.includes(SECRET));
  });
  findings.shown(
    'after compaction a model’s words stand for the turns',
    'its request holds the code, too',
    () => {
      ok(asked.compacted.body.includes('Halden Joinery, door code 4711.'));
      ok(!asked.compacted.body.includes(SAID[0]));
    },
  );
  findings.shown('each part that is not there has a reason', 'the manifest of each request', () => {
    for (const name of NAMES)
      for (const { state, reason, label } of asked[name].parts) ok(state === 'kept' || reason !== '', label);
  });
  findings.notShown('what the model made of what it was sent', 'nobody outside can see that');
  findings.notShown('that a provider passed on all it was sent', 'a script stands in for it here');
};

/** Its events as they stand in a bundle, hashes included. */
const eventsIn = (bundle: string): readonly string[] =>
  bundle.split('\n').filter((line) => line.startsWith('{"event"'));

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const elementsOf = (body: string): readonly string[] =>
  (JSON.parse(body) as { readonly messages: readonly unknown[] }).messages.map((one) => JSON.stringify(one));

/** Bytes that both begin with. */
const shared = (one: string, other: string): number => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at === -1 ? a.length : at;
};

const words = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

export const note: Note = { number: 1, name: NAME, run };
