/** SQLite's result codes (sqlite.org/rescode.html) as what happens next. */
import { OnrecordError } from '../errors.ts';
import { StorageError } from './store.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** Turns what node:sqlite threw into a StorageError, a damage report, or hands it on unchanged. */
export const storageFault = (error: unknown, path: string): unknown => {
  if (error instanceof OnrecordError || !(error instanceof Error)) return error;
  const { errcode } = error as Error & { errcode?: number };
  // The low byte is the primary code, whatever the extended one says.
  switch (errcode === undefined ? undefined : errcode & 0xff) {
    case BUSY:
    case LOCKED:
      return new StorageError('busy', `Another process holds the lock of the store ${path}.`, error);
    case FULL:
      return new StorageError(
        'full',
        `No space left for the store ${path}. Free some; work goes on then.`,
        error,
      );
    case READONLY:
    case CANTOPEN:
      return new StorageError('read-only', `The store ${path} cannot be opened for writing.`, error);
    case IOERR:
      return new StorageError('io', `The disk failed under the store ${path}: ${error.message}.`, error);
    case CORRUPT:
    case NOTADB:
      return new OnrecordError(`The store ${path} is damaged: ${error.message}. Run onrecord verify.`, {
        code: 'store-damaged',
        next: 'corrupt',
        details: { path },
        cause: error,
      });
    default:
      return error;
  }
};
