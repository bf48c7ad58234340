/**
 * A tool server as a process of its own: exactly the command that was configured, without a shell, with the variables
 * that were named and no others. One line is one message. Its standard error is kept for messages about its failure.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { systemClock } from '../../clock.ts';
import type { SecretMask } from '../../secret/mask.ts';
import { MESSAGE_BYTES_MAX, type Exchanges } from './exchange.ts';

export type ProcessSpec = {
  readonly command: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
};

/** How long a process may take to end when its input has ended, and again after SIGTERM. */
const END_MS = 1000;
/** Characters of what it wrote to standard error, from the end. */
const STDERR_CHARS_KEPT = 2000;
/** Lines that are no messages are left out; this many and it is no tool server. */
const NOISE_LINES_MAX = 1000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #spec: ProcessSpec;
  readonly #mask: SecretMask;
  readonly #exchanges: Exchanges;
  #child: ChildProcess | undefined;
  #stderr = '';
  #rest: Buffer[] = [];
  #restBytes = 0;
  #noise = 0;
  readonly #atExit = (): void => this.#signal('SIGKILL');

  constructor(spec: ProcessSpec, mask: SecretMask, exchanges: Exchanges) {
    this.#spec = spec;
    this.#mask = mask;
    this.#exchanges = exchanges;
  }

  /** What the process last wrote to standard error, in one line. */
  get said(): string {
    return this.#mask.apply(this.#stderr).replaceAll(/\s+/g, ' ').trim();
  }

  start(): Promise<void> {
    const [file = '', ...args] = this.#spec.command;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const child = spawn(file, args, {
      env: { ...this.#spec.env },
      cwd: this.#spec.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C in a terminal is for this program, which then ends the whole group.
      detached: true,
    });
    this.#child = child;
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(error);
      this.#ended(error);
    });
    child.once('close', (code, signal) =>
      this.#ended(new Error(`its process ended (${signal ?? `exit code ${code ?? 'unknown'}`})`)),
    );
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-STDERR_CHARS_KEPT);
    });
    // A server that nobody waits for keeps no program from ending; a request that is open does, by its deadline.
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr])
      (pipe as typeof pipe & { unref?: () => void }).unref?.();
    process.once('exit', this.#atExit);
    return promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin) return Promise.reject(new Error('its process is not running'));
    const line = `${JSON.stringify(message)}\n`;
    if (Buffer.byteLength(line) > MESSAGE_BYTES_MAX)
      return Promise.reject(new Error(`a message has more than ${MESSAGE_BYTES_MAX} bytes`));
    this.#exchanges.sending(message);
    return new Promise((resolve, reject) => {
      stdin.write(line, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the input, then asks, then kills: each after its time. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const waited = (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = systemClock.after(END_MS, resolve);
      return Promise.race([gone, promise]).finally(() => timer.cancel());
    };
    child.stdin?.end();
    await waited();
    this.#signal('SIGTERM');
    await waited();
    this.#signal('SIGKILL');
    await gone;
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // It is gone already, which is what was wanted.
    }
  }

  #ended(why: Error): void {
    if (!this.#child) return;
    // What it started may outlive it.
    this.#signal('SIGKILL');
    this.#child = undefined;
    process.off('exit', this.#atExit);
    this.#exchanges.allEnded(why);
    this.onclose?.();
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#line(Buffer.concat([...this.#rest, chunk.subarray(from, end)]).toString('utf8'));
      this.#rest = [];
      this.#restBytes = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.length > 0) this.#rest.push(rest);
    this.#restBytes += rest.length;
    if (this.#restBytes > MESSAGE_BYTES_MAX)
      this.#giveUp(`it sent a message of more than ${MESSAGE_BYTES_MAX} bytes`);
  }

  #line(line: string): void {
    const text = this.#mask.apply(line.replace(/\r$/, ''));
    const message = messageIn(text);
    if (message) {
      this.#exchanges.received(text);
      this.onmessage?.(message);
    } else if (text.trim() !== '' && ++this.#noise > NOISE_LINES_MAX)
      this.#giveUp(`it wrote ${NOISE_LINES_MAX} lines that are no messages`);
  }

  #giveUp(what: string): void {
    const why = new Error(what);
    this.onerror?.(why);
    this.#ended(why);
  }
}

/** Servers print other things, too. */
const messageIn = (text: string): JSONRPCMessage | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'jsonrpc' in value
      ? (value as JSONRPCMessage)
      : undefined;
  } catch {
    return undefined;
  }
};
