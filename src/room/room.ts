/**
 * One room: a process that was started before its job was known, does that job, and ends. It speaks one line of JSON
 * when it is ready and one in answer. Whatever else it says or does ends it: nothing that comes out is believed.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { OnrecordError } from '../errors.ts';
import { readAnswer, readReady } from './answer.ts';
import { jobFrame, type RoomEnd, type RoomJob, type Why } from './job.ts';

export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Removes what the room leaves behind once its processes are gone. */
  readonly clean: () => void;
};

/** Starting a room takes half a second under gVisor on an idle machine. */
export const BOOT_MS_MAX = 30_000;
const READY_BYTES_MAX = 4096;
const STDERR_BYTES_KEPT = 4096;
const STDERR_BYTES_MAX = 1024 * 1024;
/** Frame around the parts that have limits of their own. */
const FRAME_BYTES = 64 * 1024;
const NO_CONSOLE = { text: '', droppedLines: 0, droppedBytes: 0 };

export const roomUnavailable = (message: string, cause?: unknown): OnrecordError =>
  new OnrecordError(message, {
    code: 'room-unavailable',
    next: 'ask-a-person',
    ...(cause !== undefined && { cause }),
  });

/** Bytes of all that a run may say: in JSON a character can take six, in base64 three bytes take four. */
const answerBytesMax = ({ resultBytes, logBytes, filesOutBytes, callBytes }: RoomJob['limits']): number =>
  FRAME_BYTES + Math.max(6 * resultBytes, 2 * callBytes) + 6 * logBytes + Math.ceil((filesOutBytes * 4) / 3);

type Reading = {
  readonly max: number;
  readonly answer: (line: string) => void;
  readonly broken: (why: Why, message: string) => void;
};

export class Room {
  readonly #ready: Promise<string>;
  /** Settles when the process is gone and what it left is removed. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #clock: Clock;
  #said: Buffer[] = [];
  #saidBytes = 0;
  #stderr = '';
  #stderrBytes = 0;
  #reading: Reading | undefined;
  #gone = false;

  constructor(launch: Launch, clock: Clock) {
    this.#clock = clock;
    const { command, args, env, cwd } = launch;
    this.#child = spawn(command, [...args], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr } = this.#child;
    stdin.on('error', () => undefined);
    stdout.on('data', (data: Buffer) => this.#read(data));
    stderr.on('data', (data: Buffer) => this.#complain(data));
    const closed = Promise.withResolvers<void>();
    this.ended = closed.promise;
    this.#ready = this.#boot();
    // Whoever waits hears it; a warm room that nobody took is looked at when it is taken.
    this.#ready.catch(() => undefined);
    this.#child.on('error', (error) => this.#lost(`It could not be started: ${error.message}`));
    this.#child.on('close', (code, signal) => {
      this.#lost(
        signal === null ? `Its process ended with code ${code}.` : `Its process was ended by ${signal}.`,
      );
      launch.clean();
      closed.resolve();
    });
    // `close` does not come for a program that could not be started at all.
    this.#child.on('error', () => {
      if (this.#child.pid !== undefined) return;
      launch.clean();
      closed.resolve();
    });
    this.#hold(false);
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** The engine's version. Throws `room-unavailable` with what the room's process complained about. */
  async ready(): Promise<string> {
    this.#hold(true);
    try {
      return await this.#ready;
    } catch (error) {
      await this.ended;
      throw error;
    } finally {
      this.#hold(false);
    }
  }

  /** Whether this process stays alive for the room: not for one that waits for a job. */
  #hold(held: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const part of [this.#child, stdin, stdout, stderr] as unknown as {
      ref?: () => void;
      unref?: () => void;
    }[])
      if (held) part.ref?.();
      else part.unref?.();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Ends it, and waits until nothing of it is left. */
  async end(): Promise<void> {
    this.#hold(true);
    this.kill();
    await this.ended;
  }

  async #boot(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const fail = (_why: Why, message: string): void => {
      this.kill();
      reject(roomUnavailable(`${message}${this.#words()}`));
    };
    this.#reading = {
      max: READY_BYTES_MAX,
      answer: (line) => {
        const version = readReady(line);
        if (version === undefined) fail('protocol', 'The room said something else than that it is ready.');
        else resolve(version);
      },
      broken: fail,
    };
    const timer = this.#clock.after(
      BOOT_MS_MAX,
      () => fail('wall-time', `The room was not ready within ${BOOT_MS_MAX} ms.`),
      true,
    );
    try {
      return await promise;
    } finally {
      timer.cancel();
    }
  }

  /** Runs the one job of this room and ends it. Never throws: a room that is lost is a way for a run to end. */
  async run(job: RoomJob, signal: AbortSignal): Promise<RoomEnd> {
    this.#hold(true);
    const { promise, resolve } = Promise.withResolvers<RoomEnd>();
    const began = this.#clock.monotonic();
    const ms = (): number => Math.max(0, Math.round(this.#clock.monotonic() - began));
    const broken = (why: Why, message: string): void => {
      this.kill();
      resolve({
        kind: 'failed',
        why,
        message,
        console: NO_CONSOLE,
        usage: { ticks: 0, memoryBytes: 0, ms: ms() },
      });
    };
    this.#reading = {
      max: answerBytesMax(job.limits),
      answer: (line) => {
        const end = readAnswer(line, job, ms());
        if (end) resolve(end);
        else broken('protocol', 'The room answered with something that is no answer.');
      },
      broken,
    };
    const { wallMs } = job.limits;
    const timer = this.#clock.after(wallMs, () =>
      broken('wall-time', `The program was stopped at the limit wallMs ${wallMs}.`),
    );
    const stop = (): void =>
      broken('stopped', 'The program was stopped, because nobody waits for it any more.');
    if (signal.aborted) stop();
    else if (this.#gone) broken('died', 'The room ended before it was given the program.');
    else {
      signal.addEventListener('abort', stop, { once: true });
      this.#child.stdin.write(jobFrame(job));
    }
    try {
      return await promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      // The answer does not wait until all is cleared away; this process does, because the room is still held.
      this.kill();
    }
  }

  #read(data: Buffer): void {
    const reading = this.#reading;
    if (!reading) return this.kill();
    const end = data.indexOf(10);
    this.#saidBytes += data.length;
    if (this.#saidBytes > reading.max)
      return reading.broken('output', `The room said more than ${reading.max} bytes.`);
    if (end < 0) return void this.#said.push(data);
    const line = Buffer.concat([...this.#said, data.subarray(0, end)]).toString('utf8');
    this.#said = [];
    this.#saidBytes = 0;
    this.#reading = undefined;
    if (end + 1 < data.length) return reading.broken('protocol', 'The room said more than its answer.');
    reading.answer(line);
  }

  #complain(data: Buffer): void {
    this.#stderrBytes += data.length;
    if (this.#stderr.length < STDERR_BYTES_KEPT)
      this.#stderr += data.toString('utf8').slice(0, STDERR_BYTES_KEPT);
    if (this.#stderrBytes > STDERR_BYTES_MAX)
      this.#reading?.broken('output', `The room complained with more than ${STDERR_BYTES_MAX} bytes.`);
  }

  #lost(how: string): void {
    this.#gone = true;
    this.#reading?.broken('died', `The room is gone. ${how}`);
  }

  /** The last of what its process complained about: for the operator, where a room does not start. */
  #words(): string {
    const text = this.#stderr.trim();
    return text === '' ? '' : ` It said: ${text.slice(-STDERR_BYTES_KEPT)}`;
  }
}
