/** A claim of a lease in SQLite, inside the caller's transaction. */
import type { StatementSync } from 'node:sqlite';
import type { LeaseRow } from './sqlite-row.ts';
import { COUNT_LEASES, FIND_LEASE, SET_LEASE } from './sqlite-sql.ts';
import { sessionNotFound, type Claim, type ClaimLimits, type ClaimRequest, type Owner } from './store.ts';

type Prepare = (text: string) => StatementSync;

export const claimLease = (prepare: Prepare, request: ClaimRequest): Claim => {
  const { session, owner, now, leaseMs, isGone } = request;
  const row = prepare(FIND_LEASE).get(session) as LeaseRow | undefined;
  if (!row) throw sessionNotFound(session);
  if (row.owner !== null && row.lease_until !== null) {
    const holder = JSON.parse(row.owner) as Owner;
    const held = holder.id !== owner.id && row.lease_until > now;
    if (held && !isGone(holder)) return { won: false, owner: holder, until: row.lease_until };
  }
  const full = reached(prepare, row, request);
  if (full) return { won: false, full };
  const epoch = row.epoch + 1;
  const tries = row.tried_head === row.head ? row.tries + 1 : 1;
  prepare(SET_LEASE).run(epoch, JSON.stringify(owner), now + leaseMs, tries, row.head, row.id);
  return { won: true, epoch, tries };
};

const reached = (
  prepare: Prepare,
  row: LeaseRow,
  { limits, now }: ClaimRequest,
): keyof ClaimLimits | undefined => {
  const most = limits?.({ agent: row.agent ?? '', tenant: row.tenant ?? '' });
  for (const kind of ['agent', 'tenant'] as const) {
    const limit = most?.[kind];
    if (limit === undefined) continue;
    const others = prepare(COUNT_LEASES[kind]).get(row[kind], now, row.id) as { count: number };
    if (others.count >= limit) return kind;
  }
  return undefined;
};
