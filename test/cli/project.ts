/** A project folder with agents and a store, and the console run in it: as a real process, or on a stage. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import type { ExitCode } from '../../src/cli/exit-code.ts';
import { tempFolder } from '../kit/folder.ts';
import { StageStream } from './terminal-stage.ts';

export const ROOT: string = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/onrecord.js');

export type Output = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type Running = {
  /** SIGKILL: no handler, no flush, no goodbye. */
  kill(signal?: NodeJS.Signals): void;
  readonly done: Promise<Output>;
  /**
   * Resolves once stdout or stderr holds the words or matches the pattern, with what was found; rejects when the
   * process ends without. What is printed comes in pieces: a pattern says where the words that it reads end.
   */
  said(words: string | RegExp): Promise<string>;
};

export type StageOptions = {
  /** Both outputs and the input are terminals of this width; without it none is. */
  readonly columns?: number;
  readonly env?: NodeJS.ProcessEnv;
};

export type Project = {
  readonly folder: string;
  write(path: string, text: string): void;
  /** A real process; the environment is the test's own. */
  start(...args: readonly string[]): Running;
  /** The same program in this process, on streams that can be terminals. */
  on(stage: StageOptions, ...args: readonly string[]): Promise<Output>;
  onrecord(...args: readonly string[]): Promise<Output>;
};

/** `files` by their path in the project. */
export const project = (files: Readonly<Record<string, string>>): Project => {
  const folder = tempFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const on: Project['on'] = (stage, ...args) => onStage(folder, stage, args);
  return {
    folder,
    write,
    start: (...args) => startIn(folder, args),
    on,
    onrecord: (...args) => on({}, ...args),
  };
};

/** What is no terminal is told every ten seconds how far a long command is: on a slow machine one more is a long one. */
const withoutProgress = (stderr: string): string => stderr.replaceAll(/^ {2}◐ .*\n/gm, '');

const startIn = (folder: string, args: readonly string[]): Running => {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...process.env, TZ: 'UTC', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  const done = new Promise<Output>((resolve) => {
    child.on('close', (code) =>
      resolve({ stdout: texts.stdout, stderr: withoutProgress(texts.stderr), code: code ?? -1 }),
    );
  });
  const said = (words: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        for (const text of [texts.stdout, texts.stderr]) {
          const found = typeof words === 'string' ? text.includes(words) && words : words.exec(text)?.[0];
          if (typeof found === 'string') resolve(found);
        }
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      child.on('close', () =>
        reject(new Error(`never said "${String(words)}": ${texts.stdout} ${texts.stderr}`)),
      );
      look();
    });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await done;
  });
  return {
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    done,
    said,
  };
};

/** A stage is never interrupted. */
const noSignal = (): unknown => undefined;

export const onStage = async (
  folder: string,
  { columns, env = {} }: StageOptions,
  args: readonly string[],
): Promise<Output> => {
  const streams = { stdin: new StageStream(), stdout: new StageStream(), stderr: new StageStream() };
  for (const stream of Object.values(streams)) {
    stream.isTTY = columns !== undefined;
    stream.columns = columns;
  }
  const stage = {
    ...streams,
    argv: ['node', 'onrecord', ...args],
    env: { TZ: 'UTC', ...env },
    cwd: () => folder,
    once: noSignal,
  };
  const code: ExitCode = await main(stage as unknown as NodeJS.Process);
  const stderr = streams.stderr.written;
  return {
    code,
    stdout: streams.stdout.written,
    stderr: columns === undefined ? withoutProgress(stderr) : stderr,
  };
};

/** The first session id in an output. */
export const sessionIn = (text: string): string => {
  const [found] = /s_[0-9A-Z]{8}/.exec(text) ?? [];
  if (found === undefined) throw new Error(`no session in: ${text}`);
  return found;
};

/** A store under files/ with one agent that reads, writes and asks; its script is the test's. */
export const clerk = (steps: string, agent: string = ''): Project =>
  project({
    'agents/clerk.yaml': `description: Keeps the ledger.
instructions: Be exact.
model: { scripted: script.yaml }
tools:
  - files: { root: books, untrusted: true }
${agent}`,
    'script.yaml': `name: acme-large-6\nsteps:\n${steps}`,
    'books/ledger.txt': 'opening balance 100\n',
  });
