/** One measurement is one fresh process: nothing that an earlier one has compiled or cached helps it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COST_FILE, type Cost } from './cost.ts';
import type { Answers, Task } from './task.ts';

/** Who does the work: the product, or the floor under it. */
export type Side = 'product' | 'floor';

const here = (file: string): string => join(import.meta.dirname, file);

export type Ended = {
  readonly output: string;
  /** From its start to its end. */
  readonly wallMs: number;
  /** Absent where it was killed. */
  readonly cost: Cost | undefined;
};

export type ProcessOptions = {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Goes before the command, for a tracer. */
  readonly under?: readonly string[];
  readonly killed?: boolean;
};

/** Runs Node with these arguments to its end. Throws where it fails. */
export const runNode = async (args: readonly string[], options: ProcessOptions): Promise<Ended> => {
  const costFile = join(options.cwd, 'cost.json');
  rmSync(costFile, { force: true });
  const command = [...(options.under ?? []), process.execPath, '--import', here('cost.ts'), ...args];
  const start = performance.now();
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: options.cwd,
    env: { ...process.env, ...options.env, [COST_FILE]: costFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<{
    code: number | null;
    signal: string | null;
  }>();
  let wallMs = 0;
  child.once('error', reject);
  child.once('exit', () => (wallMs = performance.now() - start));
  child.once('close', (code, signal) => resolve({ code, signal }));
  const { code, signal } = await promise;
  const asWanted = options.killed === true ? signal === 'SIGKILL' : code === 0;
  if (!asWanted)
    throw new Error(
      `A measured process ended with ${signal ?? code}: ${Buffer.concat(complaints).toString()}`,
    );
  const cost = existsSync(costFile) ? (JSON.parse(readFileSync(costFile, 'utf8')) as Cost) : undefined;
  return { output: Buffer.concat(chunks).toString('utf8'), wallMs, cost };
};

/** Hands a task to one side; the answer is the last line that it writes. */
export const perform = async <Kind extends Task['kind']>(
  side: Side,
  task: Task & { readonly kind: Kind },
  options: ProcessOptions,
): Promise<Ended & { readonly answer: Answers[Kind] }> => {
  const ended = await runNode([here(`${side}.ts`), JSON.stringify(task)], options);
  const line = ended.output.trimEnd().split('\n').at(-1) ?? '';
  return { ...ended, answer: JSON.parse(line) as Answers[Kind] };
};

/** A folder for one measurement, gone afterwards. */
export const inFolder = async <T>(scratch: string, work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(scratch, 'run-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
