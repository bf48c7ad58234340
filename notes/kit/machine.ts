/**
 * A machine: an empty folder with a configuration in it, where `onrecord` runs as processes of its own. A second
 * machine knows of the first only what the store tells it.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { OnrecordClient } from '../../src/client.ts';

export const ROOT: string = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/onrecord.js');

const COMMAND_MS_MAX = 180_000;
const STOP_MS_MAX = 5000;
const SERVE_MS_MAX = 180_000;
/** How long a turn may take until it ends or needs somebody, on a machine that has other things to do. */
export const WAIT_SECONDS = 50;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export type MachineOptions = {
  /** The configuration that is used, as a module's path. */
  readonly config: string;
  /** `postgres://…`, or absent for a SQLite file in the folder. */
  readonly store?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Where compiled code is kept for the next process. */
  readonly compiled: string;
};

export class Machine {
  readonly folder: string;
  readonly #store: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #servers: Server[] = [];

  constructor(folder: string, { config, store, compiled, env = {} }: MachineOptions) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'onrecord.config.ts'), `export { default } from ${JSON.stringify(config)};\n`);
    this.folder = folder;
    this.#store = store === undefined ? [] : ['--store', store];
    this.#env = { ...process.env, TZ: 'UTC', NO_COLOR: '1', NODE_COMPILE_CACHE: compiled, ...env };
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  /** What the command prints. Throws where it ends with another exit code than expected. */
  async onrecord(args: readonly string[], exit = 0): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
    const options = {
      cwd: this.folder,
      env: this.#env,
      timeout: COMMAND_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
    };
    execFile(process.execPath, [BIN, ...args, ...this.#store], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
    const { code, stdout, stderr } = await promise;
    if (code === exit) return stdout;
    throw new Error(`onrecord ${args.join(' ')} ended with ${code}, not ${exit}: ${stdout} ${stderr}`);
  }

  /** `onrecord serve`, once it answers. */
  async serve(...options: readonly string[]): Promise<Server> {
    const args = [BIN, 'serve', '--port', '0', '--json', ...options, ...this.#store];
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const server = new Server(child);
    this.#servers.push(server);
    await server.ready;
    return server;
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    for (const server of this.#servers) await server.stop();
  }
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

export type Asked = {
  readonly body?: unknown;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** Default: the token of whoever started the server. */
  readonly token?: string;
  /** Seconds to wait for the turn to end or to need somebody. */
  readonly wait?: number;
};

export class Server {
  /** Resolves when it answers; rejects with what it said where it ends before. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<NodeJS.Signals | null>;
  #url = '';
  #token = '';
  #said = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.ready = Promise.race([this.#told(), this.#gone(), this.#late()]);
  }

  async #told(): Promise<void> {
    if (!this.#child.stdout) throw new Error('the output of the server is a pipe');
    for await (const line of createInterface({ input: this.#child.stdout })) {
      const { url, token } = JSON.parse(line) as { readonly url?: string; readonly token?: string };
      if (url === undefined || token === undefined) throw new Error(`onrecord serve says: ${line}`);
      this.#url = url;
      this.#token = readFileSync(token, 'utf8').trim();
      return;
    }
  }

  async #late(): Promise<void> {
    const told = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => told.reject(new Error(`onrecord serve said nothing for ${SERVE_MS_MAX} ms: ${this.#said}`)),
      SERVE_MS_MAX,
    );
    void this.#ended.then(() => clearTimeout(timer));
    timer.unref();
    await told.promise;
  }

  async #gone(): Promise<never> {
    await this.#ended;
    throw new Error(`onrecord serve ended: ${this.#said}`);
  }

  get client(): OnrecordClient {
    return new OnrecordClient({ url: this.#url, token: this.#token });
  }

  /** One request, as it stands: no retry, no key that nobody gave. */
  async http(method: string, path: string, { body, key, token, wait }: Asked = {}): Promise<Answer> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: {
        authorization: `Bearer ${token ?? this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(wait !== undefined && { prefer: `wait=${wait}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The exact body of a request to the model, from 1. */
  async request(session: string, number: number): Promise<string> {
    return this.#text(`/sessions/${session}/requests/${number}`);
  }

  bundle(session: string): Promise<string> {
    return this.#text(`/sessions/${session}/bundle`);
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse(await this.#text(path)) as T;
  }

  async #text(path: string): Promise<string> {
    const { status, text } = await this.http('GET', path);
    if (status === 200) return text;
    throw new Error(`GET ${path} was answered with ${status}: ${text}`);
  }

  /** As a service manager would, and then by force. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(timer);
  }

  /** SIGKILL: no handler, no flush, no goodbye. Resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
