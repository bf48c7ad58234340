/** One runtime with every recorded conversation to be driven: agents, their databases, a log. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  MemoryLog,
  openRuntime,
  SqliteLog,
  type ApprovalDecision,
  type LogStore,
  type Runtime,
} from '../../src/index.ts';
import { memoryDatabase, type AirlineDatabase } from './database.ts';
import { AirlineFile } from './database-file.ts';
import { recordedAgent, type Airline, type Recording } from './recording.ts';
import { redrive } from './redrive.ts';
import { judge, type Verdict } from './verdict.ts';

/** Conversations that are driven side by side. */
const CONVERSATIONS_AT_ONCE = 16;

export type StageOptions = {
  readonly recordings: readonly Recording[];
  /** A folder for the log and the databases; absent: in memory. What was begun there goes on. */
  readonly folder?: string;
  /** A person's answer to every write. Absent: writes run without being asked about. */
  readonly answer?: ApprovalDecision;
  /** Stands in front of the log. */
  readonly log?: (store: LogStore) => LogStore;
  /** Called when a write is durable in the airline's database, before the runtime knows. */
  readonly afterCommit?: () => void;
};

export type Played = { readonly session: string; readonly verdict: Verdict };

export class Stage {
  readonly runtime: Runtime;
  readonly store: LogStore;
  readonly #options: StageOptions;
  readonly #databases: ReadonlyMap<string, AirlineDatabase>;
  readonly #file: AirlineFile | undefined;

  private constructor(
    place: { readonly runtime: Runtime; readonly file: AirlineFile | undefined },
    databases: ReadonlyMap<string, AirlineDatabase>,
    options: StageOptions,
  ) {
    this.runtime = place.runtime;
    this.store = place.runtime.store;
    this.#file = place.file;
    this.#databases = databases;
    this.#options = options;
  }

  static async open(airline: Airline, options: StageOptions): Promise<Stage> {
    const { recordings, folder, afterCommit } = options;
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    const file =
      folder === undefined
        ? undefined
        : new AirlineFile(join(folder, 'airline.db'), airline.base, afterCommit);
    const databases = new Map(
      recordings.map(({ id }) => [id, file ? file.database(id) : memoryDatabase(airline.base())]),
    );
    const log = folder === undefined ? new MemoryLog() : new SqliteLog(join(folder, 'log.db'));
    const runtime = await openRuntime({
      store: options.log?.(log) ?? log,
      agents: recordings.map((recording) =>
        recordedAgent(airline, recording, {
          database: databaseOf(databases, recording),
          approval: options.answer ? 'policy' : 'never',
        }),
      ),
    });
    return new Stage({ runtime, file }, databases, options);
  }

  database(recording: Recording): AirlineDatabase {
    return databaseOf(this.#databases, recording);
  }

  async play(recording: Recording): Promise<Played> {
    const session = await redrive(this.runtime, recording, this.#options.answer);
    const { store } = this;
    return {
      session,
      verdict: await judge(recording, { store, session, database: this.database(recording) }),
    };
  }

  /** Plays all, several at once; in the order of the recordings, each as soon as those before it are there. */
  async *playAll(): AsyncGenerator<Played, void, undefined> {
    const waiting = [...this.#options.recordings];
    const playing: Promise<Played>[] = [];
    const startNext = (): void => {
      const recording = waiting.shift();
      if (!recording) return;
      const played = this.play(recording);
      // It is awaited in its turn; until then a failure is not an unhandled one.
      played.catch(() => undefined);
      playing.push(played);
      void played.then(startNext, startNext);
    };
    for (let i = 0; i < CONVERSATIONS_AT_ONCE; i++) startNext();
    for (let played = playing.shift(); played; played = playing.shift()) yield await played;
  }

  async close(): Promise<void> {
    await this.runtime.close();
    this.#file?.close();
  }
}

const databaseOf = (databases: ReadonlyMap<string, AirlineDatabase>, { id }: Recording): AirlineDatabase => {
  const database = databases.get(id);
  if (!database) throw new Error(`The recording ${id} is not on this stage.`);
  return database;
};
