/** Files that commands write: whole or not at all, and never over one that is there unless it is asked for. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { badInput } from '../errors.ts';
import type { Cli } from './cli.ts';

/** Bytes that are gathered before they are written. */
const WRITE_BYTES = 1024 * 1024;

export type OutputFile = {
  /** As it was named. */
  readonly name: string;
  readonly force: boolean;
};

/** Throws `file-exists`, `file-not-writable`. */
export const writeOutput = async (
  cli: Cli,
  { name, force }: OutputFile,
  chunks: AsyncIterable<string> | Iterable<string>,
): Promise<number> => {
  const path = resolve(cli.cwd, name);
  refuseExisting(path, { name, force });
  const part = partOf(path);
  try {
    const bytes = await written(part, chunks);
    putInPlace(part, path, { name, force });
    return bytes;
  } catch (cause) {
    throw faultOf(cause, name);
  } finally {
    rmSync(part, { force: true });
  }
};

/** Beside the file that it becomes, so that it can take its place in one step. */
export const partOf = (path: string): string => join(dirname(path), `.${basename(path)}.${process.pid}.part`);

export const refuseExisting = (path: string, { name, force }: OutputFile): void => {
  if (force || !existsSync(path)) return;
  throw badInput(
    'file-exists',
    `"${name}" is there already. Nothing was written. Name another file, or give --force.`,
    {
      file: name,
    },
  );
};

/** Without force a link does it, which fails where somebody else was faster. */
export const putInPlace = (part: string, path: string, { name, force }: OutputFile): void => {
  if (force) renameSync(part, path);
  else
    try {
      linkSync(part, path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      refuseExisting(path, { name, force });
    }
  syncFolder(path);
};

/** A name is on the disk when its folder is. */
export const syncFolder = (path: string): void => {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

const written = async (part: string, chunks: AsyncIterable<string> | Iterable<string>): Promise<number> => {
  const file = openSync(part, 'wx', 0o600);
  let [text, bytes] = ['', 0];
  const flush = (): void => {
    const buffer = Buffer.from(text);
    for (let at = 0; at < buffer.length;) at += writeSync(file, buffer, at);
    bytes += buffer.length;
    text = '';
  };
  try {
    for await (const chunk of chunks) {
      text += chunk;
      if (text.length >= WRITE_BYTES) flush();
    }
    flush();
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return bytes;
};

export const faultOf = (cause: unknown, name: string): unknown => {
  if (!(cause instanceof Error) || !('syscall' in cause)) return cause;
  const why = String((cause as NodeJS.ErrnoException).code);
  return badInput('file-not-writable', `"${name}" cannot be written (${why}).`, { file: name, why });
};
