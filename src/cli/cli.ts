/** What every command is handed: the screen, and doors to the agents, the store and the runtime. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { OnrecordError } from '../errors.ts';
import { isPostgres, maskedStore } from '../log/postgres-place.ts';
import type { LogStore } from '../log/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Logger } from '../tool/tool.ts';
import type { Faults } from '../worker/fault-point.ts';
import type { Channel } from '../worker/notifier.ts';
import type { Runtime } from '../worker/runtime.ts';
import { formatDuration } from '../view/format.ts';
import type { Actor } from '../event/content.ts';
import type { Prices } from '../cost/prices.ts';
import { findConfig, loadConfig, STORE_PATH, type Config, type Place } from './config.ts';
import { dispatcherOf } from './dispatch.ts';
import { channelsOf, missingSecrets } from './notify.ts';
import { line, SIGN } from './terminal/shown.ts';
import type { Screen } from './terminal/screen.ts';

/** How long a command waits at its end for people to be told. */
export const TELLING_MS = 10_000;

export type CliOptions = {
  readonly screen: Screen;
  readonly cwd: string;
  readonly user: string;
  readonly storePath: string | undefined;
  readonly configPath: string | undefined;
};

export type TelemetryWish = {
  readonly log: Pick<Logger, 'warn'>;
  /** The process serves or works until it is told to end. */
  readonly stays?: boolean;
};

export class Cli {
  readonly screen: Screen;
  /** Who acts: the account that runs the command. Nothing on the command line can say otherwise. */
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

  /** Who decides: the account, with the roles that the configuration gives it. */
  async person(): Promise<Actor> {
    const { people = {} } = await this.config();
    const { roles = [] } = (Object.hasOwn(people, this.actor.name) && people[this.actor.name]) || {};
    return roles.length === 0 ? this.actor : { ...this.actor, roles };
  }

  /** A path, or a PostgreSQL URL with whatever password it holds: never printed but by maskedStore(). */
  async storeNamed(): Promise<string> {
    const { storePath, cwd } = this.#options;
    if (storePath !== undefined) return isPostgres(storePath) ? storePath : resolve(cwd, storePath);
    const { store = STORE_PATH } = await this.config();
    return isPostgres(store) ? store : join(this.place.folder, store);
  }

  /** The store's file, without opening it. Throws `store-not-a-file`. */
  async storePath(): Promise<string> {
    const named = await this.storeNamed();
    if (!isPostgres(named)) return named;
    throw new OnrecordError(
      `This command works on a file, and the store is ${maskedStore(named)}. Use the tools of PostgreSQL for it.`,
      { code: 'store-not-a-file', next: 'fix-input', hint: 'docs/postgres.md' },
    );
  }

  /** Whether there is something to read; a database is asked when it is opened. */
  async storeIsThere(): Promise<boolean> {
    const named = await this.storeNamed();
    return isPostgres(named) || existsSync(named);
  }

  /** Where files lie that belong to the store and to this machine. */
  async storeFolder(): Promise<string> {
    const named = await this.storeNamed();
    return dirname(isPostgres(named) ? join(this.place.folder, STORE_PATH) : named);
  }

  async store(): Promise<LogStore> {
    this.#store ??= await this.#openStore();
    return this.#store;
  }

  async #openStore(): Promise<LogStore> {
    const named = await this.storeNamed();
    if (isPostgres(named)) {
      const { PostgresLog } = await import('../log/postgres.ts');
      const { durability } = await this.config();
      return PostgresLog.open(named, { ...(durability && { durability }) });
    }
    const { SqliteLog } = await import('../log/sqlite.ts');
    return new SqliteLog(named);
  }

  /** Prices of the configuration's own file, if it names one. */
  async priceOverrides(): Promise<Prices | undefined> {
    const { prices } = await this.config();
    if (prices === undefined) return undefined;
    const { readPriceFile } = await import('./price-file.ts');
    return readPriceFile(this.place.folder, prices);
  }

  /** A runtime that drives only what this command asks for. Faults are those of its first caller. */
  runtime(faults?: Faults): Promise<Runtime> {
    this.#runtime ??= this.#openRuntime(faults);
    return this.#runtime;
  }

  /** Whom the configuration tells of what waits. */
  async channels(): Promise<readonly Channel[]> {
    const { notify = [] } = await this.config();
    if (notify.length === 0) return [];
    return channelsOf(notify, { folder: this.place.folder, env: process.env });
  }

  /**
   * What is told of the work, by the configuration or by the environment. Without either only a process that stays
   * adds up what it does, for its own /metrics.
   */
  async telemetry({ log, stays = false }: TelemetryWish): Promise<Telemetry | undefined> {
    const { telemetry } = await this.config();
    if (telemetry) return telemetry;
    const { otlpSettings } = await import('../telemetry/environment.ts');
    if (!stays && !otlpSettings(process.env)) return undefined;
    const { otlpTelemetry } = await import('../telemetry/begin.ts');
    const { VERSION } = await import('../worker/program.ts');
    return otlpTelemetry({ warn: (message, data) => log.warn(message, data), version: VERSION });
  }

  async close(): Promise<void> {
    this.screen.close();
    // What kept a runtime from opening was thrown to the command that asked for it.
    const runtime = await this.#runtime?.catch(() => undefined);
    if (!runtime) return this.#store?.close();
    try {
      if (!this.interrupt.signal.aborted) await this.#tell(runtime);
    } finally {
      await runtime.close();
    }
  }

  /** What this command left to people is told before it ends; what takes too long the next process tells. */
  async #tell(runtime: Runtime): Promise<void> {
    const { notify = [] } = await this.config();
    if (notify.length === 0) return;
    const unset = missingSecrets(notify, process.env);
    if (unset.length > 0)
      this.screen.note(line`${SIGN.wait} Not set, so nobody is told there: ${unset.join(', ')}.`);
    const late = Promise.withResolvers<'late'>();
    const timer = systemClock.after(TELLING_MS, () => late.resolve('late'));
    const told = await Promise.race([runtime.notify(), late.promise]);
    timer.cancel();
    if (told === 'late')
      this.screen.note(
        line`${SIGN.wait} Not everybody could be told within ${formatDuration(TELLING_MS)}. The next command tries again.`,
      );
  }

  async #openRuntime(faults: Faults | undefined): Promise<Runtime> {
    const { openRuntime } = await import('../worker/runtime.ts');
    const { agents } = await this.config();
    const prices = await this.priceOverrides();
    const telemetry = await this.telemetry({
      log: { warn: (message) => this.screen.note(line`${SIGN.wait} ${message}`) },
    });
    const dispatcher = await dispatcherOf(this);
    return openRuntime({
      store: await this.store(),
      agents,
      clock: systemClock,
      drive: false,
      notify: await this.channels(),
      ...(dispatcher && { dispatcher }),
      ...(prices && { prices }),
      ...(telemetry && { telemetry }),
      ...(faults && { faults }),
    });
  }
}
