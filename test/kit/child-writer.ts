/**
 * A process that appends to a store and prints each acknowledgement.
 * Usage: child-writer.ts FILE SESSION COUNT
 * Each event's text is "PID n". On a conflict it reads on and appends again.
 */
import { genesis } from '../../src/event/envelope.ts';
import { childStore } from './child-store.ts';
import { ConflictError, type LogStore } from '../../src/log/store.ts';
import { sealed } from './chain.ts';

const [file = '', session = '', count = '0'] = process.argv.slice(2);

const appendOne = async (store: LogStore, text: string): Promise<number> => {
  for (;;) {
    const head = await store.head(session);
    const from = (head?.seq ?? 0) + 1;
    const events = sealed(session, [text], { from, prev: head?.hash ?? genesis(session) });
    try {
      await store.append({ session, expected: from - 1, events });
      return from;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

const store = await childStore(file);
process.stdout.write('open\n');
for (let n = 1; n <= Number(count); n++) {
  const seq = await appendOne(store, `${process.pid} ${n} ${'x'.repeat(n % 7 === 0 ? 9000 : 10)}`);
  process.stdout.write(`ack ${seq} ${n}\n`);
}
await store.close();
process.stdout.write('closed\n');
