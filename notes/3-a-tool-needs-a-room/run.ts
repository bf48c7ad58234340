/**
 * One program looks for everything that a tool's program should not reach. It runs as a plain process, to see that
 * it can find; then through the tool, in each room; and all of that again with a credential planted where programs
 * look for them.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOnrecordError } from '../../src/index.ts';
import { openRooms } from '../../src/tools.ts';
import type { EventView } from '../../src/client.ts';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { Listener } from '../kit/listener.ts';
import { WAIT_SECONDS } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '3-a-tool-needs-a-room';
const CODE = readFileSync(join(import.meta.dirname, 'look.js.txt'), 'utf8');
/** Of no provider, and of the form of one. */
const PLANTED = `sk-ant-planted-${'x7Qm'.repeat(8)}`;
const VARIABLE = 'ANTHROPIC_API_KEY';
const SERVER_SAYS = 'a server on this machine';
const ROOMS_FOLDER = join(homedir(), '.cache', 'onrecord', 'rooms');

const ROOMS = {
  wasm: 'wasm',
  gvisor: 'gvisor',
  'gvisor-node': 'gvisor, Node',
} as const;
type RoomName = keyof typeof ROOMS;

/** What the program gives back: by what it looked for, what it got, in hexadecimal; null where it got nothing. */
type Found = Readonly<Record<string, string | null>>;

/** What says that it was really reached. */
const PROOF: Readonly<Record<string, string>> = {
  'a key in its environment': PLANTED,
  'the same by the function constructor': PLANTED,
  'a key in the environment of any process': PLANTED,
  'a key in the file of credentials': PLANTED,
  'the record of its own session': 'SQLite format 3',
  'the configuration': 'onrecord.config.ts',
  'a server on this machine': SERVER_SAYS,
  'a program of this machine': 'uid=',
  'a file beside the record, to write': 'written',
};
const LOOKED = Object.keys(PROOF);

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const missing = await noGvisor();
  const rooms: readonly RoomName[] = missing === undefined ? ['wasm', 'gvisor', 'gvisor-node'] : ['wasm'];
  const server = bench.closing(await Listener.open((_, response) => void response.end(SERVER_SAYS)));
  const place = { bench, server: server.url, rooms };
  const [bare, planted] = [await trial(place, false), await trial(place, true)];
  if (missing === undefined) draw(planted, rooms, findings);
  claims({ bare, planted, rooms }, findings);
  for (const [name, { events, bundle, request }] of Object.entries({ bare, planted })) {
    findings.varying(`events-${name}.txt`, eventTable(events));
    findings.varying(`requests/${name}.json`, request);
    findings.bundle(`${name}.onrecord`, bundle);
  }
  if (missing !== undefined) findings.without('rooms of level gvisor', missing, ['reached', 'rooms']);
  findings.notShown('that nobody ever finds a way out', 'this is a list of ways that were tried');
  findings.notShown('what a program tells by how long it takes', 'not looked at');
};

/** Why there is no gVisor here; undefined where a program runs behind it. */
const noGvisor = async (): Promise<string | undefined> => {
  const missing = await tried();
  if (missing !== undefined && process.env['ROOM_REQUIRE'] === 'gvisor')
    throw new Error(`gVisor was required and does not work here: ${missing}`);
  return missing;
};

const tried = async (): Promise<string | undefined> => {
  if (process.env['ROOM_WITHOUT'] === 'gvisor') return 'ROOM_WITHOUT=gvisor leaves it out on purpose.';
  try {
    const rooms = await openRooms({ level: 'gvisor', warm: 0 });
    await rooms.close();
    return undefined;
  } catch (error) {
    if (isOnrecordError(error) && error.code === 'room-unavailable') return error.message;
    throw error;
  }
};

type Trial = {
  /** Run as a plain process: to see that there is something to be found. */
  readonly control: Found;
  readonly rooms: Readonly<Partial<Record<RoomName, Found>>>;
  readonly records: Readonly<Partial<Record<RoomName, RoomRecord>>>;
  /** Whether the file that the program wanted to write was there after the rooms were tried. */
  readonly wrote: boolean;
  readonly events: readonly EventView[];
  readonly bundle: string;
  /** The second request: what the model was told of it. */
  readonly request: string;
};
type RoomRecord = { readonly level: string; readonly engine: string; readonly usage: object };

type Place = { readonly bench: Bench; readonly server: string; readonly rooms: readonly RoomName[] };

const trial = async ({ bench, server, rooms }: Place, plants: boolean): Promise<Trial> => {
  const home = bench.folder(plants ? 'home-with-key' : 'home');
  const credentials = join(home, '.config', 'onrecord', 'credentials');
  if (plants) plant(credentials);
  const project = bench.folder(plants ? 'project-with-key' : 'project');
  const input = {
    credentials,
    record: join(project, '.onrecord', 'log.db'),
    config: join(project, 'onrecord.config.ts'),
    mark: join(project, '.onrecord', 'mark'),
    server,
  };
  const secrets = { HOME: home, ...(plants && { [VARIABLE]: PLANTED }) };
  const machine = bench.machine(NAME, {
    folder: project,
    env: {
      ...secrets,
      NOTE_INPUT: JSON.stringify(input),
      NOTE_ROOMS: rooms.join(','),
      NOTE_ROOMS_FOLDER: ROOMS_FOLDER,
    },
  });
  const served = await machine.serve();
  const { session, state } = await served.client.createSession(
    { agent: 'prober', message: 'Run it.' },
    { key: 'run', waitSeconds: WAIT_SECONDS },
  );
  equal(state, 'done');
  const wrote = existsSync(input.mark);
  const events = await eventsOf(served, session);
  const results = resultsOf(events);
  const control = await plainly(input, secrets);
  return {
    control,
    rooms: Object.fromEntries(rooms.map((name, i) => [name, results[i]?.value])),
    records: Object.fromEntries(rooms.map((name, i) => [name, results[i]?.room])),
    wrote,
    events,
    bundle: await served.bundle(session),
    request: await served.request(session, 2),
  };
};

const plant = (credentials: string): void => {
  mkdirSync(join(credentials, '..'), { recursive: true });
  writeFileSync(credentials, `${VARIABLE}=${PLANTED}\n`);
  chmodSync(credentials, 0o600);
};

/** The same program without a room. */
const plainly = async (input: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv): Promise<Found> => {
  const script = `(async (input) => {${CODE}})(${JSON.stringify(input)}).then((found) => console.log(JSON.stringify(found)))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=commonjs', '-e', script], {
    env: { PATH: process.env['PATH'], ...env },
    maxBuffer: CONTROL_BYTES_MAX,
  });
  rmSync(input['mark'] ?? '', { force: true });
  return JSON.parse(stdout) as Found;
};

/** The whole record, in hexadecimal, is among what it finds. */
const CONTROL_BYTES_MAX = 64 * 1024 * 1024;

/** By the order of the calls. */
const resultsOf = (events: readonly EventView[]): readonly { value: Found; room: RoomRecord }[] =>
  events
    .filter(({ type }) => type === 'call.result')
    .toSorted((one, other) => callOf(one).localeCompare(callOf(other)))
    .map(({ data }) => {
      const { content } = data['outcome'] as { content: readonly { text: string }[] };
      return JSON.parse(content[0]?.text ?? '') as { value: Found; room: RoomRecord };
    });

const callOf = ({ data }: EventView): string => (typeof data['call'] === 'string' ? data['call'] : '');

const got = (found: Found | undefined, what: string): boolean => {
  const text = Buffer.from((found?.[what] ?? '').replaceAll(' ', ''), 'hex').toString('latin1');
  return text.includes(PROOF[what] ?? '\0');
};

const cell = (found: Found | undefined, what: string): string => (got(found, what) ? 'REACHED' : '·');

const draw = ({ control, rooms, events }: Trial, names: readonly RoomName[], findings: Findings): void => {
  findings.piece(
    'reached',
    textTable([
      ['looked for', 'no room', ...names.map((name) => ROOMS[name])],
      ...LOOKED.map((what) => [what, cell(control, what), ...names.map((name) => cell(rooms[name], what))]),
    ]),
  );
  findings.piece('rooms', boundaries(events).map(wrapped).join('\n'));
};

/** What the record says of each room beforehand: the end of its tool's description. */
const boundaries = ([created]: readonly EventView[]): readonly string[] => {
  if (!created) throw new Error('a session begins with an event');
  const { tools } = created.data['agent'] as { readonly tools: readonly { readonly description: string }[] };
  return [...new Set(tools.flatMap(({ description }) => /Level \w+: .*/.exec(description)?.[0] ?? []))];
};

const LINE_LENGTH = 76;

const wrapped = (text: string): string =>
  text.replaceAll(new RegExp(`(.{1,${LINE_LENGTH}})(?: |$)`, 'g'), '$1\n');

type Trials = { readonly bare: Trial; readonly planted: Trial; readonly rooms: readonly RoomName[] };

const claims = ({ bare, planted, rooms }: Trials, findings: Findings): void => {
  findings.figure(`${LOOKED.length} ways`);
  findings.shown('without a room the program reaches all of it', 'the program as a plain process', () => {
    for (const what of LOOKED) ok(got(planted.control, what), what);
  });
  for (const name of rooms)
    findings.shown(`level ${ROOMS[name]}: it reaches nothing of it`, 'what it handed out, decoded', () => {
      for (const what of LOOKED) ok(!got(planted.rooms[name], what), what);
    });
  for (const name of rooms)
    findings.shown(
      `level ${ROOMS[name]}: planting a key changes nothing in what it finds`,
      'both runs, compared',
      () => deepEqual(planted.rooms[name], bare.rooms[name]),
    );
  findings.shown('nothing was written beside the record', 'the folder, after the rooms', () =>
    equal(bare.wrote || planted.wrote, false),
  );
  findings.shown('the key is nowhere in the record', 'bundle and request, plain and in hexadecimal', () => {
    const hex = Array.from(PLANTED, (one) => one.charCodeAt(0).toString(16)).join(' ');
    for (const text of [planted.bundle, planted.request]) ok(!text.includes(PLANTED) && !text.includes(hex));
  });
  findings.shown('the record says what bounded each program', 'level and engine in each result', () => {
    for (const name of rooms) {
      const { level, engine } = planted.records[name] ?? {};
      equal(`${level}, ${engine}`, ROOMS[name].includes(',') ? 'gvisor, node' : `${name}, quickjs`);
    }
  });
};

export const note: Note = { number: 3, name: NAME, run };
