/**
 * Rooms of one level: a level is chosen once, by running a program at it, and kept. A few rooms are started before
 * they are wanted; each does one job and ends. What does not fit waits.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock.ts';
import { badInput, isOnrecordError, type OnrecordError } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import { checkJob } from './check.ts';
import { guestFolder } from './guest-folder.ts';
import type { RoomEnd, RoomJob } from './job.ts';
import { LEVELS, type Engine, type Level, type RoomFacts, type RoomRecord } from './level.ts';
import { gvisorLaunch, hasSetpriv, isRoot, wasmLaunch } from './launch.ts';
import { roomLimits, type RoomLimits } from './limits.ts';
import { Room, roomUnavailable, type Launch } from './room.ts';
import { rootfs } from './rootfs.ts';
import { RunFolder } from './run-folder.ts';

export type RoomsOptions = {
  /** `auto` (the default) takes gvisor where a program runs at it, else wasm, and says so. */
  readonly level?: Level | 'auto';
  /** Refuse to open where this level does not work, whatever `level` says. */
  readonly require?: 'gvisor';
  /** Default quickjs. `node` only at level gvisor: faster, and not repeatable. */
  readonly engine?: Engine;
  readonly limits?: Partial<RoomLimits>;
  /** Rooms that wait for a job; from 0 to 8, default 1. */
  readonly warm?: number;
  /** Where the parts of rooms are kept between runs. Default: the user's cache. */
  readonly folder?: string;
  /** Told where `auto` could not take gvisor. Default: a warning of the process. */
  readonly onFallback?: (message: string) => void;
  readonly clock?: Clock;
};

export type RoomRun = {
  readonly end: RoomEnd;
  readonly record: RoomRecord;
};

const WARM_MAX = 8;
/** Rooms that run at once; further jobs wait for one to end. */
const RUNNING_MAX = 8;
const RUNSC_PLACES = ['/usr/bin/runsc', '/usr/local/bin/runsc'];
const PROBE_CODE = 'return 6 * 7';
const PROBE_VALUE = '42';

type Start = { readonly facts: Omit<RoomFacts, 'engineVersion'>; readonly launch: () => Launch };

/** Throws `room-unavailable` with the reason where the level that is asked for does not work here. */
export const openRooms = async (options: RoomsOptions = {}): Promise<Rooms> => {
  const { level = 'auto', require, engine = 'quickjs', warm = 1 } = options;
  if (level !== 'auto' && !LEVELS.includes(level))
    throw badInput(
      'room-invalid',
      `The room level "${String(level)}" is none of auto, ${LEVELS.join(', ')}.`,
    );
  if (require !== undefined && require !== 'gvisor')
    throw badInput('room-invalid', `A room can require "gvisor", not "${String(require)}".`);
  if (require === 'gvisor' && level === 'wasm')
    throw badInput('room-invalid', 'The room level is wasm, and gvisor is required: only one can hold.');
  if (!Number.isInteger(warm) || warm < 0 || warm > WARM_MAX)
    throw badInput(
      'room-invalid',
      `${String(warm)} warm rooms; it must be a whole number from 0 to ${WARM_MAX}.`,
    );
  // A program for Node's engine has no other level to go to.
  const strict = level === 'gvisor' || require === 'gvisor' || engine === 'node';
  if (engine === 'node' && level === 'wasm')
    throw badInput(
      'room-invalid',
      'The engine node runs only at level gvisor: wasm runs programs in quickjs.',
    );
  const settings: Settings = {
    engine,
    warm,
    limits: roomLimits(options.limits),
    clock: options.clock ?? systemClock,
    base: options.folder ?? join(homedir(), '.cache', 'onrecord', 'rooms'),
  };
  if (level === 'wasm') return probed('wasm', settings);
  try {
    return await probed('gvisor', settings);
  } catch (error) {
    if (strict || !isOnrecordError(error)) throw error;
    const rooms = await probed('wasm', settings);
    const message = `Rooms run at level wasm: gvisor does not work here. ${error.message}`;
    (options.onFallback ?? warning)(message);
    return rooms;
  }
};

const warning = (message: string): void => process.emitWarning(message, { code: 'ONRECORD_ROOM_LEVEL' });

type Settings = {
  readonly engine: Engine;
  readonly warm: number;
  readonly limits: RoomLimits;
  readonly clock: Clock;
  readonly base: string;
};

const startOf = (level: Level, { engine, limits, base }: Settings, run: RunFolder): Start => {
  if (level === 'wasm') {
    const guest = guestFolder(base);
    const facts = { level, engine: 'quickjs', guestDigest: guest.digest, memoryLimitBy: 'engine' } as const;
    return { facts, launch: () => wasmLaunch(guest, limits) };
  }
  const runsc = runscHere();
  const root = rootfs(base);
  const facts = {
    level,
    engine,
    guestDigest: root.digest,
    runsc: runscVersion(runsc),
    rootless: !isRoot(),
    memoryLimitBy: engine === 'quickjs' ? 'engine and address space' : 'address space',
  } as const;
  return { facts, launch: () => gvisorLaunch({ root, runsc, engine, limits }, run.room()) };
};

const runscHere = (): string => {
  if (process.platform !== 'linux')
    throw roomUnavailable(`gVisor runs on Linux, this is ${process.platform}.`);
  const runsc = RUNSC_PLACES.find((path) => existsSync(path));
  if (runsc === undefined)
    throw roomUnavailable(`runsc is not at ${RUNSC_PLACES.join(' or ')}. On Debian: apt-get install runsc.`);
  if (!hasSetpriv()) throw roomUnavailable('setpriv is not here; it is part of util-linux.');
  return runsc;
};

const runscVersion = (runsc: string): string => {
  try {
    const [first = ''] = execFileSync(runsc, ['--version'], { encoding: 'utf8', env: {} }).split('\n');
    return first.replace(/^runsc version /, '');
  } catch (error) {
    throw roomUnavailable(`${runsc} --version failed.`, error);
  }
};

/** Rooms at a level that has just run a program. */
const probed = async (level: Level, settings: Settings): Promise<Rooms> => {
  const run = new RunFolder(settings.base);
  try {
    const start = startOf(level, settings, run);
    const room = new Room(start.launch(), settings.clock);
    const engineVersion = await room.ready();
    const end = await room.run(probeJob(settings), new AbortController().signal);
    await room.ended;
    if (end.kind !== 'done' || end.value !== PROBE_VALUE)
      throw roomUnavailable(`A program was run at level ${level} and gave ${said(end)}, not ${PROBE_VALUE}.`);
    return new Rooms({ ...start, facts: { ...start.facts, engineVersion } }, settings, run);
  } catch (error) {
    run.close();
    if (isOnrecordError(error)) throw error;
    throw roomUnavailable(
      `Level ${level} could not be prepared: ${error instanceof Error ? error.message : String(error)}.`,
      error,
    );
  }
};

const said = (end: RoomEnd): string =>
  end.kind === 'failed' ? `${end.why} (${end.message})` : end.kind === 'done' ? String(end.value) : end.kind;

const probeJob = ({ engine, limits }: Settings): RoomJob => ({
  code: PROBE_CODE,
  input: 'null',
  files: new Map(),
  clockMs: 0,
  seed: '',
  tools: [],
  answers: [],
  engine,
  limits,
});

type Known = { readonly facts: RoomFacts; readonly launch: () => Launch };

export class Rooms {
  readonly facts: RoomFacts;
  readonly limits: RoomLimits;
  readonly #launch: () => Launch;
  readonly #settings: Settings;
  readonly #run: RunFolder;
  #warm: Room[] = [];
  readonly #alive: Set<Room> = new Set();
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor({ facts, launch }: Known, settings: Settings, run: RunFolder) {
    this.facts = facts;
    this.limits = settings.limits;
    this.#launch = launch;
    this.#settings = settings;
    this.#run = run;
  }

  /** Starts the rooms that wait for a job, and says when they are ready. Without it the first job pays for a start. */
  async warm(): Promise<void> {
    this.#refill();
    await Promise.all(this.#warm.map((room) => room.ready()));
  }

  /** Runs one program in a room of its own. Throws `job-invalid` and `room-unavailable`; all else is in `end`. */
  async run(given: Omit<RoomJob, 'engine' | 'limits'>, signal: AbortSignal): Promise<RoomRun> {
    if (this.#closed) throw roomUnavailable('The rooms were closed.');
    const job: RoomJob = { ...given, engine: this.facts.engine, limits: this.limits };
    checkJob(job);
    await this.#turn();
    try {
      const warm = await this.#takeWarm();
      let end = await (warm ?? (await this.#fresh())).run(job, signal);
      // It may have been dead already when it was taken. A program has no effect, so a room of its own is one try more.
      if (warm && end.kind === 'failed' && end.why === 'died' && !this.#closed)
        end = await (await this.#fresh()).run(job, signal);
      return { end, record: recordOf(this.facts, job, end) };
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
      // To start a process takes longer than the answer should wait for it.
      setImmediate(() => this.#refill());
    }
  }

  /** Ends all rooms, those at work too, and removes what they left. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#alive].map((room) => room.end()));
    this.#run.close();
  }

  async #turn(): Promise<void> {
    while (this.#running >= RUNNING_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
  }

  #start(): Room {
    if (this.#closed) throw roomUnavailable('The rooms were closed.');
    const room = new Room(this.#launch(), this.#settings.clock);
    this.#alive.add(room);
    void room.ended.then(() => this.#alive.delete(room));
    return room;
  }

  #refill(): void {
    if (this.#closed) return;
    this.#warm = this.#warm.filter((room) => !room.gone);
    while (this.#warm.length < this.#settings.warm) this.#warm.push(this.#start());
  }

  /** A warm room, where there is one that is ready and still there. */
  async #takeWarm(): Promise<Room | undefined> {
    for (let room = this.#warm.shift(); room; room = this.#warm.shift()) {
      if (room.gone) continue;
      const taken = await room.ready().then(
        () => true,
        () => false,
      );
      if (taken && !room.gone) return room;
    }
    return undefined;
  }

  async #fresh(): Promise<Room> {
    const room = this.#start();
    await room.ready();
    return room;
  }
}

const filesDigest = (files: RoomJob['files']): string =>
  [...files].map(([name, bytes]) => `${sha256(bytes)} ${name}`).join('\n');

const inputDigestOf = ({ input, files, answers }: RoomJob): Digest =>
  sha256(JSON.stringify([input, filesDigest(files), answers]));

const recordOf = (facts: RoomFacts, job: RoomJob, { usage }: RoomEnd): RoomRecord => ({
  ...facts,
  programDigest: sha256(job.code),
  inputDigest: inputDigestOf(job),
  clockMs: job.clockMs,
  seed: job.seed,
  limits: job.limits,
  usage,
});

/** Why a level does not work here, or what it is made of. */
export const tryLevel = async (
  level: Level,
  options: Omit<RoomsOptions, 'level' | 'require'> = {},
): Promise<RoomFacts | OnrecordError> => {
  try {
    const rooms = await openRooms({ ...options, level, warm: 0 });
    await rooms.close();
    return rooms.facts;
  } catch (error) {
    if (isOnrecordError(error)) return error;
    throw error;
  }
};
