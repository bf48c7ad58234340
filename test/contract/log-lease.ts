/** Leases: who drives a session, and how somebody else takes over. */
import { describe, expect, test } from 'vitest';
import type { Claim, LogStore, Owner } from '../../src/log/store.ts';
import { grow, OWNER_A, OWNER_B, sealed, summary } from '../kit/chain.ts';

const LEASE = 1000;

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
      expect(await claim(OWNER_A, 0)).toEqual({ won: true, epoch: 1 });
      expect(await claim(OWNER_B, LEASE - 1)).toEqual({ won: false, owner: OWNER_A, until: LEASE });
    });

    test('a lease that has run out is taken under a new epoch', async () => {
      const { claim } = await start();
      await claim(OWNER_A, 0);
      expect(await claim(OWNER_B, LEASE)).toEqual({ won: true, epoch: 2 });
    });

    test('of 20 owners that claim at one moment one wins', async () => {
      const { claim } = await start();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, i) => claim({ ...OWNER_A, id: `owner-${i}` }, 0)),
      );
      expect(claims.filter((one) => one.won)).toEqual([{ won: true, epoch: 1 }]);
    });

    test('the same owner claims again under a new epoch', async () => {
      const { claim } = await start();
      await claim(OWNER_A, 0);
      expect(await claim(OWNER_A, 1)).toEqual({ won: true, epoch: 2 });
    });

    test('renewing keeps the lease; an older epoch cannot renew', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      expect(await store.renew('s', 1, 5 * LEASE)).toBe(true);
      expect(await claim(OWNER_B, 2 * LEASE)).toMatchObject({ won: false, until: 5 * LEASE });
      expect(await claim(OWNER_B, 5 * LEASE)).toEqual({ won: true, epoch: 2 });
      expect(await store.renew('s', 1, 9 * LEASE)).toBe(false);
      expect(await claim(OWNER_A, 5 * LEASE)).toMatchObject({ won: false, owner: OWNER_B });
    });

    test('a released lease is free, and cannot be renewed', async () => {
      const { store, claim } = await start();
      await claim(OWNER_A, 0);
      await store.release('s', 1);
      expect(await store.renew('s', 1, 5 * LEASE)).toBe(false);
      expect(await claim(OWNER_B, 1)).toEqual({ won: true, epoch: 2 });
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
      expect(await claim(OWNER_B, 1, (owner) => owner.id === OWNER_A.id)).toEqual({ won: true, epoch: 2 });
    });

    test('leases of different sessions have nothing to do with each other', async () => {
      const { store, claim } = await start();
      await grow(store, 'other', ['a']);
      await claim(OWNER_A, 0);
      const request = { session: 'other', owner: OWNER_B, now: 0, leaseMs: LEASE, isGone: () => false };
      expect(await store.claim(request)).toEqual({ won: true, epoch: 1 });
    });

    test('a session that is not there cannot be claimed', async () => {
      const { store } = await start();
      const request = { session: 'nobody', owner: OWNER_A, now: 0, leaseMs: LEASE, isGone: () => false };
      await expect(store.claim(request)).rejects.toMatchObject({ code: 'session-not-found' });
    });
  });
};
