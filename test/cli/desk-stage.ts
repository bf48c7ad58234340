/** A project in a folder of its own, real processes of the console on its store, and a real terminal. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import {
  openRuntime,
  SqliteLog,
  systemClock,
  type Actor,
  type Clock,
  type Config,
  type Runtime,
} from '../../src/index.ts';
import { main } from '../../src/cli/main.ts';
import { approvals, type Approval } from '../../src/view/approval.ts';
import { recordOf, type SessionRecord } from '../../src/view/record.ts';
import { tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { agentsIn } from './desk-agents.ts';
import { StageStream } from './terminal-stage.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'bin/onrecord.js');
const AGENTS = join(ROOT, 'test/cli/desk-agents.ts');

/** Nothing of the machine that runs the tests but what a program needs to start. */
const environment = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  TZ: 'UTC',
  NO_COLOR: '1',
  ...more,
});

/** Who the console takes the person at it for. */
export const ME: Actor = { kind: 'person', name: userInfo().username };

/** The real clock, set forward by so many milliseconds, or back. */
const clockAt = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

type Given = { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> };

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export class Project {
  readonly folder: string;

  constructor(more: Pick<Config, 'people' | 'notify'> = {}) {
    this.folder = tempFolder();
    writeFileSync(
      join(this.folder, 'onrecord.config.ts'),
      `import { agentsIn } from ${JSON.stringify(AGENTS)};\nexport default { agents: agentsIn(import.meta.dirname), ...${JSON.stringify(more)} };\n`,
    );
  }

  get storePath(): string {
    return join(this.folder, '.onrecord/log.db');
  }

  /** What the tools did, one line each. */
  get effects(): readonly string[] {
    return linesIn(join(this.folder, 'effects.log'));
  }

  /** On a clock that is so many milliseconds ahead of everybody else's. */
  async withRuntime<T>(use: (runtime: Runtime) => Promise<T>, aheadMs = 0): Promise<T> {
    const store = new SqliteLog(this.storePath);
    const clock = clockAt(aheadMs);
    const runtime = await openRuntime({ store, agents: agentsIn(this.folder), clock, drive: false });
    try {
      return await use(runtime);
    } finally {
      await runtime.close();
    }
  }

  /** A session of an agent, driven until it rests: now, or so many milliseconds ago. */
  session(agent: string, by?: Actor, agoMs = 0): Promise<string> {
    return this.withRuntime(async (runtime) => {
      const { session } = await runtime.send({ agent, message: `Go on, ${agent}.`, ...(by && { by }) });
      await runtime.rest(session);
      return session;
    }, -agoMs);
  }

  async record(session: string): Promise<SessionRecord> {
    const store = new SqliteLog(this.storePath);
    try {
      return recordOf(session, (await store.read(session)).map(open));
    } finally {
      await store.close();
    }
  }

  async waiting(session: string): Promise<readonly Approval[]> {
    return approvals(await this.record(session));
  }

  async events<T extends LogEvent['type']>(
    session: string,
    type: T,
  ): Promise<readonly Extract<LogEvent, { type: T }>[]> {
    const { events } = await this.record(session);
    return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
  }

  /** The program in this process: a tenth of the time of one of its own. */
  async onrecord(args: readonly string[], { env = {} }: Pick<Given, 'env'> = {}): Promise<Ran> {
    const streams = { stdin: new StageStream(), stdout: new StageStream(), stderr: new StageStream() };
    streams.stdin.end();
    const stage = {
      ...streams,
      argv: ['node', 'onrecord', ...args],
      env: environment(env),
      cwd: () => this.folder,
      once: () => undefined,
    };
    const code = await main(stage as unknown as NodeJS.Process);
    return { code, stdout: streams.stdout.written, stderr: streams.stderr.written };
  }

  /** A process of its own, for what only another process can show. */
  async process(args: readonly string[], { stdin = '', env = {} }: Given = {}): Promise<Ran> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: this.folder, env: environment(env) });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    const [code] = (await once(child, 'close')) as [number];
    return { code, stdout, stderr };
  }

  terminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal(this.folder, args, options);
  }
}

export type TerminalOptions = {
  readonly rows?: number;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** True where it resolves in time. What had come while this process was not let on has come in time. */
const within = async (ms: number, done: Promise<unknown>): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => setImmediate(() => late.resolve(false)), ms);
  try {
    return await Promise.race([done.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** What is typed within half a second of a question is thrown away: a person reads it first. */
const READING_MS = 600;
/** A machine that is slow may have thrown it away all the same: then it is pressed again. */
const PRESS_AGAIN_MS = 1000;

/** The console behind a pseudo terminal, as util-linux's `script` makes one. */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #waiters = new Set<() => void>();
  readonly #ended: Promise<number>;
  #over = false;
  #written = '';

  constructor(
    folder: string,
    args: readonly string[],
    { rows = 40, columns = 80, env = {} }: TerminalOptions,
  ) {
    const line = [process.execPath, PROGRAM, ...args].map(quoted).join(' ');
    const command = `stty rows ${rows} cols ${columns}; exec ${line}`;
    this.#child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: folder,
      env: environment({ SHELL: '/bin/sh', ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#written += text;
      for (const waiter of this.#waiters) waiter();
    });
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#over = true;
      for (const waiter of this.#waiters) waiter();
      return code as number;
    });
    onTestFinished(async () => {
      if (this.#over) return;
      this.#child.kill('SIGKILL');
      await this.#ended;
    });
  }

  /** Everything written so far, as bytes of the terminal say it. */
  get written(): string {
    return this.#written;
  }

  /** Waits for a text, from a position on; answers the position behind it. */
  async shows(text: string, from = 0): Promise<number> {
    for (;;) {
      const at = this.#written.indexOf(text, from);
      if (at >= 0) return at + text.length;
      if (this.#over)
        throw new Error(`The terminal closed without ${JSON.stringify(text)}: ${this.#written.slice(from)}`);
      await this.#news();
    }
  }

  /** Presses a key that answers a question which is shown, once it was read, and waits for what it brings about. */
  async press(key: string, answer: string): Promise<void> {
    const from = this.#written.length;
    const shown = this.shows(answer, from);
    // It is asked for below, unless a timer comes first.
    shown.catch(() => undefined);
    for (let waitMs = READING_MS; !(await within(waitMs, shown)); waitMs = PRESS_AGAIN_MS) this.send(key);
  }

  /** Types a line into the question that stands, once it can be read. */
  async line(text: string, answer: string): Promise<void> {
    await this.press('#', '#');
    const from = this.#written.length;
    this.send(`\u0015${text}`);
    // Enter on its own: a line feed within a paste is no answer.
    await this.shows(text.slice(-4), from);
    this.send('\r');
    await this.shows(answer, from);
  }

  send(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** The exit code. */
  ends(): Promise<number> {
    return this.#ended;
  }

  #news(): Promise<void> {
    return new Promise((resolvePromise) => {
      const waiter = (): void => {
        this.#waiters.delete(waiter);
        resolvePromise();
      };
      this.#waiters.add(waiter);
    });
  }
}
