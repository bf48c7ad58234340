/** Tries the attacks on a level of this machine, with something planted for them to find. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { randomId, systemRandom } from '../clock.ts';
import { LANGUAGE_ATTACKS, SYSTEM_ATTACKS, type Attack, type Canary } from './attack.ts';
import type { RoomEnd } from './job.ts';
import type { Level } from './level.ts';
import type { RoomLimits } from './limits.ts';
import { openRooms, type Rooms, type RoomsOptions } from './rooms.ts';

export type AttackOutcome = {
  readonly level: Level;
  readonly attack: string;
  readonly end: RoomEnd;
  /** What came through; undefined where the room held. */
  readonly wrong?: string;
};

/** Attacks are to reach their limits soon, and the one that they are about: on a slow machine that is not the clock. */
const LIMITS: Partial<RoomLimits> = { ticks: 1500, wallMs: 60_000, memoryBytes: 32 * 1024 * 1024 };
/** Of rooms for attacks that nothing else has to end. */
const CLOCK_MS = 8000;
const SECRET_LENGTH = 24;
/** A file that holds a credential, as people keep them beside a store. */
export const KEY_FILE = 'key.txt';
export const SECRET_NAME = 'ONRECORD_ROOM_CANARY';

export class Bait {
  readonly canary: Canary;
  /** Connections that came to the planted service. */
  connections = 0;
  readonly #server: Server;
  readonly #before: string | undefined = process.env[SECRET_NAME];

  static async plant(): Promise<Bait> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return new Bait(server);
  }

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.connections++;
      socket.destroy();
    });
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const folder = mkdtempSync(join(tmpdir(), 'onrecord-bait-'));
    const path = join(folder, 'log.db');
    const secret = randomId(systemRandom, SECRET_LENGTH);
    const store = new DatabaseSync(path);
    store.exec('CREATE TABLE keys (name TEXT, value TEXT)');
    store.prepare('INSERT INTO keys VALUES (?, ?)').run(SECRET_NAME, secret);
    store.close();
    writeFileSync(join(folder, KEY_FILE), secret);
    process.env[SECRET_NAME] = secret;
    this.canary = { secret, path, folder, port, pid: process.pid };
  }

  /** What an attack has left or found beside its own answer. */
  wrong(end: RoomEnd): string | undefined {
    if (this.connections > 0) return `${this.connections} connections to a service of the host`;
    const { files: _, ...rest } = end as RoomEnd & { readonly files?: unknown };
    return JSON.stringify(rest).includes(this.canary.secret) ? 'the planted secret came out' : undefined;
  }

  take(): void {
    if (this.#before === undefined) delete process.env[SECRET_NAME];
    else process.env[SECRET_NAME] = this.#before;
    this.#server.close();
    rmSync(this.canary.folder, { recursive: true, force: true });
  }
}

/** One attack in a room of its own. The planted secret is told only to those that search for its text. */
export const attackOnce = async (rooms: Rooms, attack: Attack, bait: Bait): Promise<AttackOutcome> => {
  const { secret, ...told } = bait.canary;
  const input = attack.searches ? { ...told, secret } : told;
  const { end } = await rooms.run(
    {
      code: attack.code,
      input: JSON.stringify(input),
      files: new Map(),
      clockMs: 0,
      seed: attack.name,
      tools: [],
      answers: [],
    },
    new AbortController().signal,
  );
  const wrong = attack.wrong(end) ?? bait.wrong(end);
  return { level: rooms.facts.level, attack: attack.name, end, ...(wrong !== undefined && { wrong }) };
};

/** Attacks that one set of rooms fits. */
export const sameRooms = (attacks: readonly Attack[]): readonly (readonly Attack[])[] =>
  [
    attacks.filter(({ byClock }) => byClock !== true),
    attacks.filter(({ byClock }) => byClock === true),
  ].filter(({ length }) => length > 0);

/** Rooms in which these attacks are tried: with limits that are reached soon. */
export const roomsForAttacks = (
  level: Level,
  attacks: readonly Attack[],
  options: RoomsOptions = {},
): Promise<Rooms> => {
  const byClock = attacks.some((attack) => attack.byClock === true);
  return openRooms({ ...options, level, limits: { ...LIMITS, ...(byClock && { wallMs: CLOCK_MS }) } });
};

export type LevelProof = { readonly rooms: Rooms['facts']; readonly outcomes: readonly AttackOutcome[] };

/** Throws `room-unavailable` where the level does not work here. */
export const proveLevel = async (level: Level, options: RoomsOptions = {}): Promise<LevelProof> => {
  const bait = await Bait.plant();
  const outcomes: AttackOutcome[] = [];
  const all = async (attacks: readonly Attack[], engine: 'quickjs' | 'node'): Promise<Rooms['facts']> => {
    const rooms = await roomsForAttacks(level, attacks, { ...options, engine });
    try {
      for (const attack of attacks) outcomes.push(await attackOnce(rooms, attack, bait));
      return rooms.facts;
    } finally {
      await rooms.close();
    }
  };
  try {
    const rooms = await all(LANGUAGE_ATTACKS, 'quickjs');
    if (level === 'gvisor') for (const attacks of sameRooms(SYSTEM_ATTACKS)) await all(attacks, 'node');
    return { rooms, outcomes };
  } finally {
    bait.take();
  }
};
