/** PostgreSQL's SQLSTATE codes (postgresql.org/docs/current/errcodes-appendix.html) as what happens next. */
import { badInput, OnrecordError } from '../errors.ts';
import { StorageError, type StorageFault } from './store.ts';

type Known = readonly [fault: StorageFault, what: string];

const FAULTS: Readonly<Record<string, Known>> = {
  '25006': [
    'read-only',
    'takes no writes: it is a standby or set to read-only. The primary has to be reached',
  ],
  '40001': ['busy', 'could not put this in order with what others were writing'],
  '40P01': ['busy', 'ended a deadlock'],
  '53000': ['unavailable', 'is short of something'],
  '53100': ['full', 'has no disk space left. Free some; work goes on then'],
  '53200': ['unavailable', 'is out of memory'],
  '53300': ['unavailable', 'has no connection left. Raise max_connections or run fewer processes'],
  '55P03': ['busy', 'holds a lock for somebody else for too long'],
  '57014': ['busy', 'needed longer than a statement may take'],
  '57P01': ['unavailable', 'is shutting down'],
  '57P02': ['unavailable', 'ended after a crash of one of its processes'],
  '57P03': ['unavailable', 'is starting or stopping'],
  '57P05': ['unavailable', 'ended a session that was idle'],
  '58030': ['io', 'failed to read or write its disk'],
};

const REFUSALS: Readonly<Record<string, string>> = {
  '28000': 'does not let this user in',
  '28P01': 'does not take this password',
  '3D000': 'has no such database',
  '42501': 'does not let this user do that',
};

/** What the driver and the system say where no answer came at all. */
const isConnectionLoss = (error: Error, code: string): boolean =>
  code.startsWith('08') ||
  /^E[A-Z]{3,}$/.test(code) ||
  /connection (terminated|ended|closed)|client has encountered a connection error|timeout/i.test(
    error.message,
  );

/** Trying again does not help where a certificate, or the file that it is checked by, is not what it should be. */
const tlsProblem = (error: Error, code: string): string | undefined => {
  if ((error as NodeJS.ErrnoException).syscall === 'open') return 'names a file that cannot be read';
  if (/^ERR_(TLS|SSL|OSSL)|CERT|UNABLE_TO/.test(code) || /\bSSL\b/.test(error.message))
    return 'could not be reached over TLS as its URL asks for';
  return undefined;
};

/** Turns what the driver threw into a StorageError or another answer; hands on what it does not know. */
export const postgresFault = (error: unknown, shown: string): unknown => {
  if (error instanceof OnrecordError || !(error instanceof Error)) return error;
  const code = (error as Error & { code?: unknown }).code;
  const state = typeof code === 'string' ? code : '';
  const known = FAULTS[state];
  if (known) return new StorageError(known[0], `The store ${shown} ${known[1]}.`, error);
  const refusal = REFUSALS[state] ?? tlsProblem(error, state);
  if (refusal !== undefined)
    return new OnrecordError(`The store ${shown} ${refusal}: ${error.message}.`, {
      code: 'store-refused',
      next: 'ask-a-person',
      details: { state },
      cause: error,
    });
  if (state === '42P01' || state === '3F000' || state === '42883') return notMigrated(shown, error);
  if (state.startsWith('XX'))
    return new OnrecordError(`The store ${shown} is damaged: ${error.message}.`, {
      code: 'store-damaged',
      next: 'corrupt',
      details: { state },
      cause: error,
    });
  if (state === '22021' || state === '22P05')
    return badInput('text-not-storable', `The store ${shown} takes no NUL in names: ${error.message}.`);
  if (isConnectionLoss(error, state))
    return new StorageError(
      'unavailable',
      `The store ${shown} cannot be reached, or the connection was lost: ${error.message}.`,
      error,
    );
  return error;
};

export const notMigrated = (shown: string, cause?: unknown): OnrecordError =>
  new OnrecordError(`The database ${shown} has no tables of Onrecord yet. They are made once.`, {
    code: 'store-not-migrated',
    next: 'ask-a-person',
    hint: 'onrecord migrate',
    cause,
  });

export const onStandby = (shown: string): StorageError =>
  new StorageError(
    'read-only',
    `${shown} is a standby, and what it shows may be old. Nothing is decided on it. The primary has to be reached.`,
  );
