/**
 * What the file system says, as errors a model can act on. Messages name the path inside the folder, never
 * the place of the folder on the host.
 */
import { ToolError } from '../tool.ts';

/** Characters of a quoted value in a message. */
const QUOTE_CHARS_MAX = 200;

/** A value in a sentence: quoted, escaped, and cut where it is long. */
export const quoted = (value: string): string =>
  JSON.stringify(
    value.length > QUOTE_CHARS_MAX ? `${value.slice(0, QUOTE_CHARS_MAX)}…` : value,
  ).toWellFormed();

/** Whole numbers as people read them: 1,048,576. */
export const counted = (value: number): string => value.toLocaleString('en-US');

const errnoOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  // ERR_... are Node's own: a fault of this program, not of the disk.
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/u.test(error.code) ? error.code : undefined;
};

export const isErrno = (error: unknown, ...codes: readonly string[]): boolean => {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
};

type Sentence = { readonly code: string; readonly says: string; readonly retryable?: boolean };

const SENTENCES: Readonly<Record<string, Sentence>> = {
  ENOENT: { code: 'not-found', says: 'is not there. List the folder to see what is' },
  ENOTDIR: { code: 'not-a-folder', says: 'leads through something that is not a folder. List its parent' },
  EISDIR: { code: 'not-a-file', says: 'is a folder. Name a file in it' },
  ELOOP: { code: 'outside-root', says: 'is or passes through a link, and links are never followed' },
  EACCES: { code: 'no-permission', says: 'may not be opened by this process. Ask the operator' },
  EPERM: { code: 'no-permission', says: 'may not be changed by this process. Ask the operator' },
  EROFS: { code: 'read-only', says: 'is on a disk that is mounted read-only. Nothing can be written there' },
  ENAMETOOLONG: { code: 'bad-name', says: 'is too long for the disk. Use a shorter name' },
  ENOSPC: { code: 'disk-full', says: 'does not fit on the disk, which is full. Ask the operator' },
  EDQUOT: { code: 'disk-full', says: 'does not fit in the disk quota. Ask the operator' },
  EFBIG: { code: 'file-too-large', says: 'would be larger than the disk allows' },
  EMFILE: {
    code: 'too-many-open-files',
    says: 'could not be opened: too many files are open',
    retryable: true,
  },
  ENFILE: {
    code: 'too-many-open-files',
    says: 'could not be opened: too many files are open',
    retryable: true,
  },
};

/** An error of the file system as a ToolError: nothing had happened. Any other error stays what it is. */
export const fileFault = (error: unknown, path: string): unknown => {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const sentence = SENTENCES[errno];
  if (sentence)
    return new ToolError(`${quoted(path)} ${sentence.says}.`, {
      code: sentence.code,
      retryable: sentence.retryable ?? false,
      details: { path },
      cause: error,
    });
  return new ToolError(`${quoted(path)} could not be used: the file system answered ${errno}.`, {
    code: 'file-system-error',
    details: { path, errno },
    cause: error,
  });
};

/** Runs one act on the file system with its errors told about `path`. */
export const withFaults = async <T>(path: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw fileFault(error, path);
  }
};

export const tooLarge = (path: string, bytesMax: number): ToolError =>
  new ToolError(`${quoted(path)} is larger than ${counted(bytesMax)} bytes, the limit of this tool.`, {
    code: 'file-too-large',
    details: { path, bytesMax },
  });

export const missingFolder = (path: string): ToolError =>
  new ToolError(`${quoted(path)} could not be reached: a folder on the way vanished. List its parent.`, {
    code: 'not-found',
    details: { path },
  });

/** The world moved since somebody looked. Nothing happened. */
export const changed = (path: string): ToolError =>
  new ToolError(`${quoted(path)} changed since it was last looked at. Nothing was written. Read it again.`, {
    code: 'file-changed',
    details: { path },
  });
