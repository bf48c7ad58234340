/** A process that claims a session for a long time and then does nothing. Usage: child-owner.ts STORE SESSION */
import { systemRandom } from '../../src/clock.ts';
import { thisOwner } from '../../src/log/owner.ts';
import { childStore } from './child-store.ts';

const [where = '', session = ''] = process.argv.slice(2);
const store = await childStore(where);
store.changes(() => undefined);
const claim = await store.claim({
  session,
  owner: thisOwner(systemRandom),
  now: Date.now(),
  leaseMs: 3_600_000,
  isGone: () => false,
});
process.stdout.write(claim.won ? `claimed ${claim.epoch}\n` : 'taken\n');
process.stdin.resume();
