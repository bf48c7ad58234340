/**
 * A session is recorded, and its deeds land in the world. Then it is rehearsed: with a model that words things
 * otherwise, with one that acts otherwise, and under another policy. The world counts who comes.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { WAIT_SECONDS } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { Service } from '../kit/service.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '7-another-model';
const file = (path: string): string => join(import.meta.dirname, path);

const EXIT_SAME = 0;
const EXIT_OTHERWISE = 11;

const WAYS = {
  'wordy-6': { args: ['--model', file('models/wordy.yaml')], exit: EXIT_SAME },
  'hasty-6': { args: ['--model', file('models/hasty.yaml'), '--missing', 'stub'], exit: EXIT_OTHERWISE },
  'asks first': { args: ['--policy', file('asks.yaml')], exit: EXIT_OTHERWISE },
} as const;
type Way = keyof typeof WAYS;
const NAMES = Object.keys(WAYS) as readonly Way[];

type Deed = { readonly id: string; readonly tool: string; readonly args: string };

type Rehearsed = {
  readonly sameDeeds: boolean;
  readonly sameWords: boolean;
  readonly divergence?: {
    readonly turn: number;
    readonly step: number;
    readonly path: string;
    readonly recorded?: unknown;
    readonly rehearsed?: unknown;
  };
  readonly onlyRecorded: readonly Deed[];
  readonly onlyRehearsed: readonly Deed[];
  readonly otherArguments: readonly { readonly recorded: Deed; readonly rehearsed: Deed }[];
  readonly kept?: string;
};

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const service = bench.closing(await Service.open({ knowsKeys: () => true }));
  const machine = bench.machine(NAME, { env: { NOTE_SERVICE: service.url } });
  const server = await machine.serve();
  const { session, state } = await server.client.createSession(
    { agent: 'clerk', message: 'Order A-7 came broken.' },
    { key: 'complaint', waitSeconds: WAIT_SECONDS },
  );
  equal(state, 'done');
  const before = { world: service.requests.length, record: await server.bundle(session) };
  const rehearsed = {} as Record<Way, Rehearsed>;
  for (const name of NAMES) {
    const { args, exit } = WAYS[name];
    const printed = await machine.onrecord(['rehearse', session, ...args, '--keep', '--json'], exit);
    rehearsed[name] = JSON.parse(printed) as Rehearsed;
  }
  const hasty = WAYS['hasty-6'];
  const words = await machine.onrecord(['rehearse', session, ...hasty.args], hasty.exit);
  findings.piece('divergence', untilTotals(words).replaceAll(session, 's_SESSION'));
  draw(rehearsed, findings);
  const after = { world: service.requests.length, record: await server.bundle(session) };
  claims({ before, after, rehearsed, recorded: service.requests.map(({ what }) => what) }, findings);
  const kept = rehearsed['hasty-6'].kept ?? '';
  findings.file('events.txt', eventTable(await eventsOf(server, session)));
  findings.file('events-hasty.txt', eventTable(await eventsOf(server, kept)));
  findings.file('requests/recorded-2.json', await server.request(session, 2));
  findings.file('requests/rehearsed-2.json', await server.request(kept, 2));
  findings.bundle('recorded.onrecord', before.record);
  findings.bundle('rehearsed.onrecord', await server.bundle(kept));
};

/** Without the last table: it has milliseconds. */
const untilTotals = (printed: string): string => printed.slice(0, printed.search(/^ +recorded +rehearsed$/m));

/** Deeds of the world by what would have become of them. */
const draw = (rehearsed: Record<Way, Rehearsed>, findings: Findings): void => {
  const rows = NAMES.flatMap((name): readonly (readonly string[])[] => {
    const { divergence, onlyRecorded, onlyRehearsed, otherArguments } = rehearsed[name];
    const where = divergence ? `turn ${divergence.turn}, step ${divergence.step}` : 'nowhere';
    const changes = [
      ...otherArguments.map(
        ({ recorded, rehearsed: now }) => `${recorded.tool}: ${now.args}, not ${recorded.args}`,
      ),
      ...onlyRecorded.map(({ tool }) => `${tool}: would not have been`),
      ...onlyRehearsed.map(({ tool }) => `${tool}: would have come on top`),
    ];
    const [first = unchanged(rehearsed[name]), ...more] = changes;
    return [[name, where, first], ...more.map((change) => ['', '', change])];
  });
  findings.piece('world', textTable([['rehearsed with', 'first difference', 'in the world'], ...rows]));
};

/** In words, where the deeds would have been the same. */
const unchanged = ({ divergence, sameWords }: Rehearsed): string => {
  if (divergence?.path.endsWith('/verdict') === true && divergence.rehearsed === 'ask')
    return 'the same, once a person had said yes';
  return sameWords ? 'the same' : 'the same, in other words';
};

type Stand = { readonly world: number; readonly record: string };
type Seen = {
  readonly before: Stand;
  readonly after: Stand;
  readonly rehearsed: Record<Way, Rehearsed>;
  readonly recorded: readonly string[];
};

const claims = ({ before, after, rehearsed, recorded }: Seen, findings: Findings): void => {
  findings.figure(`${before.world} requests`);
  findings.shown('the recorded session acted in the world', 'what the service was asked', () =>
    deepEqual(recorded, ['order.find', 'refund', 'letter.send']),
  );
  findings.shown(
    'no rehearsal reached the world, not even to read',
    'the same count after four of them',
    () => equal(after.world, before.world),
  );
  findings.shown('no rehearsal touched the record', 'its bundle, before and after', () =>
    equal(after.record, before.record),
  );
  findings.shown('other words are no difference, other deeds are', 'exit codes, and what differs', () => {
    ok(rehearsed['wordy-6'].sameDeeds && !rehearsed['wordy-6'].sameWords);
    equal(rehearsed['hasty-6'].sameDeeds, false);
  });
  findings.shown('the first difference is named by its place', 'turn, step and argument', () => {
    const { divergence } = rehearsed['hasty-6'];
    deepEqual([divergence?.turn, divergence?.step], [1, 2]);
  });
  findings.notShown(
    'what the world would have answered',
    'a call that is not in the record was taken as done',
  );
};

export const note: Note = { number: 7, name: NAME, run };
