/** A bundle into a store: all of it or nothing, and only where it proves itself whole. */
import { bug, OnrecordError } from '../errors.ts';
import type { Claim, LogStore, Owner } from '../log/store.ts';
import type { Verified } from '../replay/verify.ts';
import { bundleSummary } from './bundle-store.ts';
import type { Bundle } from './read.ts';

export type Imported = {
  readonly session: string;
  /** Events that were written; 0 where all of them stood there. */
  readonly events: number;
  readonly outcome: 'new' | 'continued' | 'already-there';
};

/** Who imports, for the moment in which a session is continued. */
export type Importer = {
  readonly owner: Owner;
  readonly isGone: (owner: Owner) => boolean;
  readonly now: number;
};

/** Milliseconds: an import is one append. */
const IMPORT_LEASE_MS = 60_000;

/**
 * `verified` is what verifyBundle found. Throws `bundle-damaged`, `bundle-redacted`, `session-differs`,
 * `session-driven`.
 */
export const importBundle = async (
  store: LogStore,
  { bundle, verified }: { readonly bundle: Bundle; readonly verified: Verified },
  importer: Importer,
): Promise<Imported> => {
  const { session } = bundle.manifest;
  refuseUnproved(bundle, verified);
  const { events } = bundle;
  const stands = await store.head(session);
  if (!stands) {
    await write(store, bundle, { from: 0 });
    return { session, events: events.length, outcome: 'new' };
  }
  const shared = Math.min(stands.seq, events.length);
  const [here] = await store.read(session, shared, shared);
  if (!here || here.hash !== events[shared - 1]?.hash) throw differs(session, shared);
  if (stands.seq >= events.length) return { session, events: 0, outcome: 'already-there' };
  const epoch = await claimed(store, session, importer);
  try {
    await write(store, bundle, { from: stands.seq, epoch });
  } finally {
    await store.release(session, epoch);
  }
  return { session, events: events.length - stands.seq, outcome: 'continued' };
};

/** Throws `bundle-damaged` and `bundle-redacted`: what can be said before there is a store. */
export const refuseUnproved = ({ manifest, removed }: Bundle, { findings }: Verified): void => {
  const { session } = manifest;
  const [first] = findings;
  if (first)
    throw new OnrecordError(
      `The bundle does not prove itself: ${first.message} Nothing was written. See all: onrecord verify FILE`,
      { code: 'bundle-damaged', next: 'corrupt', details: { session, findings: findings.length } },
    );
  if (!manifest.removed && removed.data.size === 0 && removed.blobs.size === 0) return;
  throw new OnrecordError(
    `Something was removed from this bundle by rule (${(manifest.removed ?? []).join(', ')}). It can be verified and shown, not imported: ` +
      'a session without its facts cannot go on. Nothing was written.',
    { code: 'bundle-redacted', next: 'fix-input', details: { session } },
  );
};

const differs = (session: string, seq: number): OnrecordError =>
  new OnrecordError(
    `Session ${session} is in this store with another history: event ${seq} is not the bundle's. Nothing was written. Import it into another store.`,
    {
      code: 'session-differs',
      next: 'look-again',
      details: { session, seq },
      hint: `onrecord show ${session}`,
    },
  );

const claimed = async (store: LogStore, session: string, importer: Importer): Promise<number> => {
  const claim: Claim = await store.claim({ session, leaseMs: IMPORT_LEASE_MS, ...importer });
  if (claim.won) return claim.epoch;
  if ('full' in claim) throw bug('a claim without limits reaches none', { session });
  throw new OnrecordError(
    `Session ${session} is driven by process ${claim.owner.pid} on ${claim.owner.host}. Nothing was written. Stop it first.`,
    { code: 'session-driven', next: 'look-again', details: { session } },
  );
};

const write = async (
  store: LogStore,
  bundle: Bundle,
  { from, epoch }: { readonly from: number; readonly epoch?: number },
): Promise<void> => {
  const { manifest, events, blobs } = bundle;
  await store.append({
    session: manifest.session,
    expected: from,
    events: events.slice(from),
    blobs: Array.from(blobs, ([digest, bytes]) => ({ digest, bytes })),
    summary: bundleSummary(bundle),
    ...(epoch !== undefined && { epoch }),
  });
};
