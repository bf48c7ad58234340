/**
 * What runs inside a room: reads one job from standard input, runs it in a fresh engine, writes one answer to
 * standard output and ends. It is started before the job is known. It has nothing to lose: no credential, file or
 * socket is in this process. The host believes nothing that it says.
 */
import { readFileSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import type { RoomJob, Why } from '../job.ts';
import { Machine, PROGRAM, type Module } from './machine.ts';
import { Outside, type Job } from './outside.ts';

type Limits = RoomJob['limits'];

const MESSAGE_CHARS_MAX = 2000;
/** Where an error says that it was thrown. */
const STACK_LINE = /program\.js:(\d+)/;

declare const WebAssembly: { compile(bytes: Uint8Array): Promise<Module> };

const wasmBytes = (): Buffer<ArrayBuffer> =>
  readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

type Answer = Readonly<Record<string, unknown>>;

const failure = (why: Why, message: string, stack = ''): Answer => {
  const line = STACK_LINE.exec(stack)?.[1];
  return {
    t: 'failed',
    why,
    message: message.toWellFormed().slice(0, MESSAGE_CHARS_MAX),
    ...(line !== undefined && { line: Number(line) }),
  };
};

const OUT_OF_MEMORY = 'out of memory';

const memorySpent = (job: Job, stack?: string): Answer =>
  failure('memory', `The program needs more than the limit memoryBytes ${job.limits.memoryBytes}.`, stack);

const ticksSpent = (job: Job, error?: unknown): Answer =>
  failure(
    'ticks',
    `The program was stopped at the limit ticks ${job.limits.ticks}.`,
    (error as Error | undefined)?.stack,
  );

/** What the engine itself says of its end; a program's own errors arrive as an outcome. */
const broken = (error: unknown, outside: Outside, job: Job): Answer => {
  if (outside.stop) return failure(outside.stop.why, outside.stop.message);
  const { name, message, stack } = error as Error;
  if (message === OUT_OF_MEMORY) return memorySpent(job, stack);
  return failure(name === 'SyntaxError' ? 'syntax' : 'threw', `${name}: ${message}`, stack);
};

const outcomeOf = (outcome: string, outside: Outside, job: Job): Answer => {
  if (outside.stop) return failure(outside.stop.why, outside.stop.message);
  // A call that nobody waits for is made all the same: the program is not over before its calls are.
  if (outside.requests.length > 0) return { t: 'suspended', calls: outside.requests };
  const rest = outcome.slice(1);
  if (outcome.startsWith('e')) {
    const { name, message, stack } = JSON.parse(rest) as Record<'name' | 'message' | 'stack', string>;
    if (name === 'InternalError' && message === OUT_OF_MEMORY) return memorySpent(job, stack);
    return failure('threw', `${name}: ${message}`, stack);
  }
  if (outcome === '')
    return failure(
      'deadlock',
      'The program waits for something that never comes; there is nothing left to run.',
    );
  if (outside.unused > 0)
    return failure(
      'diverged',
      `${outside.unused} answers were given for calls that the program did not make.`,
    );
  if (Buffer.byteLength(rest) > job.limits.resultBytes)
    return failure(
      'output',
      `The result has more bytes than the limit resultBytes ${job.limits.resultBytes}.`,
    );
  const files = Object.fromEntries(
    [...outside.out].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  );
  return { t: 'done', ...(outcome.startsWith('v') && { value: rest }), files };
};

const inQuickJs = (machine: Machine, job: Job): Answer => {
  const outside = new Outside(job);
  let answer: Answer;
  try {
    const outcome = machine.run(job, outside);
    // The engine hands its own end to whoever waits for a promise, so that it can look like a program's error.
    answer = machine.isSpent ? ticksSpent(job) : outcomeOf(outcome, outside, job);
  } catch (error) {
    answer = machine.isSpent && !outside.stop ? ticksSpent(job, error) : broken(error, outside, job);
  }
  return finished(answer, outside, { ticks: machine.ticks, memoryBytes: machine.vm.getAllocatedSize() });
};

/** Node's own engine, for work that needs its speed. Not repeatable: no clock, seed, ticks or tools. */
const inNode = async (job: Job): Promise<Answer> => {
  const outside = new Outside(job);
  const require = createRequire(import.meta.url);
  const files = {
    read: (name: string): string => Buffer.from(outside.file(String(name))).toString('utf8'),
    bytes: (name: string): Uint8Array => outside.file(String(name)),
    list: (): readonly string[] => outside.list(),
    write: (name: string, content: string | Uint8Array): void =>
      outside.write(String(name), new Uint8Array(Buffer.from(content as string))),
  };
  const line = (...values: readonly unknown[]): void =>
    outside.log(
      values
        .map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))))
        .join(' '),
    );
  const console = { log: line, info: line, warn: line, error: line, debug: line };
  let answer: Answer;
  try {
    const source = `return (async () => {"use strict";${job.code}\n})()`;
    const names = ['input', 'files', 'tools', 'console', 'require'];
    const run = compileFunction(source, names, { filename: PROGRAM }) as (
      ...given: readonly unknown[]
    ) => Promise<unknown>;
    const value = JSON.stringify(await run(JSON.parse(job.input), files, {}, console, require));
    answer = outcomeOf(value === undefined ? 'u' : `v${value}`, outside, job);
  } catch (error) {
    const { name = 'thrown', message = String(error), stack = '' } = (error ?? {}) as Partial<Error>;
    answer = failure(name === 'SyntaxError' ? 'syntax' : 'threw', `${name}: ${message}`, String(stack));
  }
  return finished(answer, outside, { ticks: 0, memoryBytes: process.memoryUsage().rss });
};

const finished = (answer: Answer, outside: Outside, usage: object): Answer => ({
  ...answer,
  console: {
    text: outside.lines.join('\n'),
    droppedLines: outside.droppedLines,
    droppedBytes: outside.droppedBytes,
  },
  usage,
});

/** A pipe may take a part, or nothing for the moment. */
const put = (value: object): void => {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  let written = 0;
  while (written < bytes.length)
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
};

/**
 * A program that uses what most programs use, run in the engine that the job will have: then its code is compiled and
 * its memory is there. It leaves nothing that a program could see, and is the same each time.
 */
const WARMING =
  'console.log(JSON.stringify([1, "a".split("")].map(String)), new Date().toISOString(), /a+/.test("aa")); ' +
  'new Uint8Array(1 << 20).fill(1); await 0; return input';

const warmJob = (limits: Limits): Job => ({
  code: WARMING,
  input: '{}',
  files: {},
  clockMs: 0,
  seed: '',
  tools: [],
  answers: [],
  engine: 'quickjs',
  limits,
});

const READ_BYTES = 1 << 16;
const LINE_END = 10;

/** Waits for a line without an event loop, which takes many more system calls: they are what costs under gVisor. */
const nextLine = (): string | undefined => {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.allocUnsafe(READ_BYTES);
    const read = readSync(0, part);
    if (read === 0) return undefined;
    const end = part.subarray(0, read).indexOf(LINE_END);
    parts.push(part.subarray(0, end < 0 ? read : end));
    if (end >= 0) return Buffer.concat(parts).toString('utf8');
  }
};

type Worker = { readonly version: string; readonly work: (job: Job) => Answer | Promise<Answer> };

const quickJs = async (limits: Limits): Promise<Worker> => {
  const machine = await Machine.make(await WebAssembly.compile(wasmBytes()), limits);
  inQuickJs(machine, warmJob(limits));
  const { versions } = machine.vm;
  const version = `quickjs-wasi ${versions['quickjs-wasi'] ?? '?'}, QuickJS-ng ${versions['quickjs'] ?? '?'}`;
  return { version, work: (job) => inQuickJs(machine, job) };
};

const main = async (): Promise<void> => {
  const [, , engine, limits = '{}'] = process.argv;
  const node: Worker = { version: `Node ${process.versions.node}`, work: inNode };
  const { version, work } = engine === 'node' ? node : await quickJs(JSON.parse(limits) as Limits);
  put({ t: 'ready', engineVersion: version });
  const line = nextLine();
  // Nobody wants this room any more.
  if (line === undefined) process.exit(0);
  put({ ...(await work(JSON.parse(line) as Job)) });
  process.exit(0);
};

await main();
