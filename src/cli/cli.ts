/** What every command is handed: the screen, and doors to the agents, the store and the runtime. */
import { join, resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import type { LogStore } from '../log/store.ts';
import type { Faults } from '../worker/fault-point.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { Actor } from '../event/content.ts';
import { findConfig, loadConfig, STORE_PATH, type Config, type Place } from './config.ts';
import type { Screen } from './terminal/screen.ts';

export type CliOptions = {
  readonly screen: Screen;
  readonly cwd: string;
  readonly user: string;
  readonly storePath: string | undefined;
  readonly configPath: string | undefined;
};

export class Cli {
  readonly screen: Screen;
  /** Who acts: the account that runs the command. */
  readonly actor: Actor;
  readonly #options: CliOptions;
  #place: Place | undefined;
  #config: Promise<Config> | undefined;
  #store: LogStore | undefined;
  #runtime: Promise<Runtime> | undefined;
  /** Aborted by Ctrl C: stop, leave the session whole. */
  readonly interrupt: AbortController = new AbortController();

  constructor(options: CliOptions) {
    this.#options = options;
    this.screen = options.screen;
    this.actor = { kind: 'person', name: options.user };
  }

  /** The folder that paths on the command line start from. */
  get cwd(): string {
    return this.#options.cwd;
  }

  get place(): Place {
    this.#place ??= findConfig(this.#options.cwd, this.#options.configPath);
    return this.#place;
  }

  config(): Promise<Config> {
    this.#config ??= loadConfig(this.place);
    return this.#config;
  }

  /** Where the store lies, without opening it. */
  async storePath(): Promise<string> {
    const { storePath, cwd } = this.#options;
    if (storePath !== undefined) return resolve(cwd, storePath);
    const { store } = await this.config();
    return join(this.place.folder, store ?? STORE_PATH);
  }

  async store(): Promise<LogStore> {
    if (!this.#store) {
      const { SqliteLog } = await import('../log/sqlite.ts');
      this.#store = new SqliteLog(await this.storePath());
    }
    return this.#store;
  }

  /** A runtime that drives only what this command asks for. Faults are those of its first caller. */
  runtime(faults?: Faults): Promise<Runtime> {
    this.#runtime ??= this.#openRuntime(faults);
    return this.#runtime;
  }

  async close(): Promise<void> {
    this.screen.close();
    if (this.#runtime) await (await this.#runtime).close();
    else await this.#store?.close();
  }

  async #openRuntime(faults: Faults | undefined): Promise<Runtime> {
    const { openRuntime } = await import('../worker/runtime.ts');
    const { agents } = await this.config();
    return openRuntime({
      store: await this.store(),
      agents,
      clock: systemClock,
      drive: false,
      ...(faults && { faults }),
    });
  }
}
