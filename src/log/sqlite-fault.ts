/** SQLite's result codes (sqlite.org/rescode.html) as what happens next. */
import { OnrecordError } from '../errors.ts';
import { StorageError, type StorageFault } from './store.ts';

const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

/** The file was moved or deleted underneath: SQLITE_READONLY_DBMOVED. */
const DB_MOVED = READONLY | (4 << 8);
/** No room to lengthen the shared memory beside the file, which is a full disk: SQLITE_IOERR_SHMSIZE. */
const SHM_SIZE = IOERR | (19 << 8);
/**
 * A write that the system refused for another reason than a full disk: SQLITE_IOERR_WRITE. SQLite tells a full
 * quota (EDQUOT) and a file size limit (EFBIG) this way, too.
 */
const WRITE_FAILED = IOERR | (3 << 8);

/** Turns what node:sqlite threw into a StorageError, a damage report, or hands it on unchanged. */
export const storageFault = (error: unknown, path: string): unknown => {
  if (error instanceof OnrecordError || !(error instanceof Error)) return error;
  const { errcode } = error as Error & { errcode?: number };
  if (errcode === undefined) return error;
  const known = particular(errcode, path) ?? general(errcode & 0xff, path, error.message);
  if (known === undefined) return error;
  if (known === 'damaged')
    return new OnrecordError(`The store ${path} is damaged: ${error.message}. Run onrecord verify.`, {
      code: 'store-damaged',
      next: 'corrupt',
      details: { path },
      cause: error,
    });
  return new StorageError(known[0], known[1], error);
};

type Known = readonly [fault: StorageFault, message: string];

const full = (path: string): Known => [
  'full',
  `No space left for the store ${path}. Free some; work goes on then.`,
];

/** Extended codes that mean something else than their class. */
const particular = (code: number, path: string): Known | undefined => {
  switch (code) {
    case DB_MOVED:
      return ['replaced', `The store ${path} was moved or deleted. Put it back, or restart.`];
    case SHM_SIZE:
      return full(path);
    case WRITE_FAILED:
      return [
        'io',
        `The system refuses to write the store ${path}: a disk fault, a full quota or a file size limit. ` +
          'Work goes on when it can be written.',
      ];
    default:
      return undefined;
  }
};

/** The low byte is the primary code, whatever the extended one says. */
const general = (code: number, path: string, message: string): Known | 'damaged' | undefined => {
  switch (code) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return [
        'busy',
        `Another process holds the lock of the store ${path}. Wait until it is done, or end it.`,
      ];
    case FULL:
      return full(path);
    case READONLY:
    case CANTOPEN:
      return [
        'read-only',
        `The store ${path} cannot be opened for writing. Check the rights of the file and its folder.`,
      ];
    case IOERR:
      return ['io', `The disk failed under the store ${path}: ${message}.`];
    case NOMEM:
      return ['unavailable', `There is not enough memory to use the store ${path}.`];
    case CORRUPT:
    case NOTADB:
      return 'damaged';
    default:
      return undefined;
  }
};
