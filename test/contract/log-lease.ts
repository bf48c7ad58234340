/** Leases: who drives a session, and how somebody else takes over. */
import { describe, expect, test } from 'vitest';
import type { SessionSummary } from '../../src/event/summary.ts';
import type { Claim, ClaimLimits, LogStore, Owner, SessionRow } from '../../src/log/store.ts';
import { grow, OWNER_A, OWNER_B, sealed, summary } from '../kit/chain.ts';

const LEASE = 1000;

const SUMMARY: SessionSummary = {
  agent: 'clerk',
  tenant: '',
  title: '',
  status: 'running',
  canGoOn: true,
  turns: 1,
  waiting: 0,
  inDoubt: 0,
  untold: 0,
  cost: 0,
  createdAt: 0,
  updatedAt: 0,
};

const names = (rows: readonly SessionRow[]): readonly string[] => rows.map(({ session }) => session);

const listed = async (store: LogStore, session: string, tenant: string): Promise<void> =>
  store.append({
    session,
    expected: 0,
    events: sealed(session, ['a']),
    summary: { ...SUMMARY, tenant, updatedAt: Number(session.slice(1)) },
  });

const limited =
  (store: LogStore, limits: ClaimLimits) =>
  (session: string, now = 0): Promise<Claim> =>
    store.claim({
      session,
      owner: OWNER_A,
      now,
      leaseMs: LEASE,
      isGone: () => false,
      limits: ({ agent }) => (agent === SUMMARY.agent ? limits : {}),
    });

export const describeLeases = (name: string, fresh: () => Promise<LogStore>): void => {
  const start = async (): Promise<{
    store: LogStore;
    claim: (owner: Owner, now: number, isGone?: (owner: Owner) => boolean) => Promise<Claim>;
  }> => {
    const store = await fresh();
    await grow(store, 's', ['a']);
    return {
      store,
      claim: (owner, now, isGone = () => false) =>
        store.claim({ session: 's', owner, now, leaseMs: LEASE, isGone }),
    };
  };

  describe(`${name}: leases`, () => {
    test('a lease that runs keeps others out and says who holds it', async () => {
      const { claim } = await start();
      expect(await claim(OWNER_A, 0)).toMatchObject({ won: true, epoch: 1 });
      expect(await claim(OWNER_B, LEASE - 1)).toEqual({ won: false, owner: OWNER_A, until: LEASE });
    });

    test('a lease that has run out is taken under a new epoch', async () => {
      const { claim } = await start();
      await claim(OWNER_A, 0);
      expect(await claim(OWNER_B, LEASE)).toMatchObject({ won: true, epoch: 2 });
    });

    test('of 20 owners that claim at one moment one wins', async () => {
      const { claim } = await start();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, i) => claim({ ...OWNER_A, id: `owner-${i}` }, 0)),
      );
      expect(claims.filter((one) => one.won)).toEqual([{ won: true, epoch: 1, tries: 1 }]);
    });

    test('the same owner claims again under a new epoch', async () => {
      const { claim } = await start();
      await claim(OWNER_A, 0);
      expect(await claim(OWNER_A, 1)).toMatchObject({ won: true, epoch: 2 });
    });

    test('renewing keeps the lease; an older epoch cannot renew', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      expect(await store.renew('s', 1, 5 * LEASE)).toBe(true);
      expect(await claim(OWNER_B, 2 * LEASE)).toMatchObject({ won: false, until: 5 * LEASE });
      expect(await claim(OWNER_B, 5 * LEASE)).toMatchObject({ won: true, epoch: 2 });
      expect(await store.renew('s', 1, 9 * LEASE)).toBe(false);
      expect(await claim(OWNER_A, 5 * LEASE)).toMatchObject({ won: false, owner: OWNER_B });
    });

    test('a released lease is free, and cannot be renewed', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      await store.release('s', 1);
      expect(await store.renew('s', 1, 5 * LEASE)).toBe(false);
      expect(await claim(OWNER_B, 1)).toMatchObject({ won: true, epoch: 2 });
    });

    test('whoever gives a lease back hears where the log ends by then, and an older epoch nothing', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      expect(await store.release('s', 1)).toBe((await store.head('s'))?.seq);
      await claim(OWNER_B, 1);
      const grown = await grow(store, 's', ['b', 'c']);
      expect(await store.release('s', 1)).toBeUndefined();
      expect(await store.release('s', 2)).toBe(grown.at(-1)?.seq);
    });

    test('lists say who drives and until when, and nothing once that is over', async () => {
      const store = await fresh();
      await store.append({
        session: 's',
        expected: 0,
        events: sealed('s', ['a']),
        summary: summary('running', 1),
      });
      const lease = async (): Promise<unknown> => (await store.sessions())[0]?.lease;
      expect(await lease()).toBeUndefined();
      await store.claim({ session: 's', owner: OWNER_A, now: 0, leaseMs: LEASE, isGone: () => false });
      expect(await lease()).toEqual({ owner: OWNER_A, until: LEASE });
      await store.renew('s', 1, 5 * LEASE);
      expect(await lease()).toEqual({ owner: OWNER_A, until: 5 * LEASE });
      await store.release('s', 1);
      expect(await lease()).toBeUndefined();
    });

    test('an older epoch releases nothing', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      await claim(OWNER_B, LEASE);
      await store.release('s', 1);
      expect(await claim(OWNER_A, LEASE + 1)).toMatchObject({ won: false, owner: OWNER_B });
    });

    test('the lease of an owner that is gone is taken at once, of no other', async () => {
      const { claim } = await start();
      await claim(OWNER_A, 0);
      expect(await claim(OWNER_B, 1, (owner) => owner.id === 'somebody else')).toMatchObject({ won: false });
      expect(await claim(OWNER_B, 1, (owner) => owner.id === OWNER_A.id)).toMatchObject({
        won: true,
        epoch: 2,
      });
    });

    test('leases of different sessions have nothing to do with each other', async () => {
      const { store, claim } = await start();
      await grow(store, 'other', ['a']);
      await claim(OWNER_A, 0);
      const request = { session: 'other', owner: OWNER_B, now: 0, leaseMs: LEASE, isGone: () => false };
      expect(await store.claim(request)).toMatchObject({ won: true, epoch: 1 });
    });

    test('a session that is not there cannot be claimed', async () => {
      const { store } = await start();
      const request = { session: 'nobody', owner: OWNER_A, now: 0, leaseMs: LEASE, isGone: () => false };
      await expect(store.claim(request)).rejects.toMatchObject({ code: 'session-not-found' });
    });

    test('claims at one head that were not given back are counted; an append, or giving back, begins anew', async () => {
      const { store, claim } = await start();
      expect(await claim(OWNER_A, 0)).toMatchObject({ won: true, tries: 1 });
      expect(await claim(OWNER_B, LEASE)).toMatchObject({ won: true, tries: 2 });
      expect(await claim(OWNER_B, LEASE + 1)).toMatchObject({ won: true, tries: 3 });
      await grow(store, 's', ['b']);
      expect(await claim(OWNER_B, LEASE + 2)).toMatchObject({ won: true, epoch: 4, tries: 1 });
      expect(await claim(OWNER_B, LEASE + 3)).toMatchObject({ won: true, epoch: 5, tries: 2 });
      await store.release('s', 5);
      expect(await claim(OWNER_B, LEASE + 4)).toMatchObject({ won: true, tries: 1 });
    });

    test('no more sessions of a tenant, or of an agent, are driven at once than the claim allows', async () => {
      const store = await fresh();
      for (const [session, tenant] of [
        ['s1', 'a'],
        ['s2', 'a'],
        ['s3', 'a'],
        ['s4', 'b'],
      ] as const)
        await listed(store, session, tenant);
      const claim = limited(store, { tenant: 2, agent: 3 });
      expect(await claim('s1')).toMatchObject({ won: true });
      expect(await claim('s2')).toMatchObject({ won: true });
      expect(await claim('s3')).toEqual({ won: false, full: 'tenant' });
      // Its own lease does not count against a session.
      expect(await claim('s2')).toMatchObject({ won: true, epoch: 2 });
      expect(await claim('s4')).toMatchObject({ won: true });
      await store.release('s1', 1);
      expect(await claim('s3')).toMatchObject({ won: true });
      expect(await claim('s1')).toMatchObject({ won: false, full: 'agent' });
      expect(await claim('s1', LEASE)).toMatchObject({ won: true });
    });

    test('of 20 claims at one moment no more win than the limit', async () => {
      const store = await fresh();
      const sessions = Array.from({ length: 20 }, (_, i) => `s${i}`);
      for (const session of sessions) await listed(store, session, 'a');
      const claims = await Promise.all(sessions.map((session) => limited(store, { tenant: 3 })(session)));
      expect(claims.filter(({ won }) => won)).toHaveLength(3);
    });

    test('a list by age begins with the longest unchanged, page by page, and can be narrowed to names', async () => {
      const store = await fresh();
      for (const session of ['s3', 's1', 's2', 's5', 's4']) await listed(store, session, '');
      const query = { canGoOn: true, oldestFirst: true, limit: 2 } as const;
      const first = await store.sessions(query);
      expect(names(first)).toEqual(['s1', 's2']);
      expect(names(await store.sessions({ ...query, after: { session: 's2', updatedAt: 2 } }))).toEqual([
        's3',
        's4',
      ]);
      expect(names(await store.sessions({ names: ['s4', 's2', 'none'] }))).toEqual(['s4', 's2']);
    });
  });
};
