/**
 * A process that decides and drives. Usage: child-decider.ts FILE WORLD NAME. Each line that it reads is a JSON list
 * of [session, digest, decision]; all of them are decided at once, by NAME. It prints "ready", and for each line
 * "answers A B ...", in the order of the list: "first", "again", or the code of a refusal.
 */
import { createInterface } from 'node:readline';
import type { Digest } from '../../src/event/canonical.ts';
import type { ApprovalDecision } from '../../src/event/events.ts';
import { isOnrecordError } from '../../src/errors.ts';
import { childStore } from './child-store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { payer } from './payer.ts';

const [file = '', world = '', name = ''] = process.argv.slice(2);
const runtime = await openRuntime({ store: await childStore(file), agents: [payer(world)] });

const answer = async ([session, digest, decision]: readonly [
  string,
  Digest,
  ApprovalDecision,
]): Promise<string> => {
  try {
    const by = { kind: 'person', name } as const;
    const { replayed } = await runtime.decide({ session, call: '1.1.1', digest, decision, by });
    return replayed ? 'again' : 'first';
  } catch (error) {
    if (!isOnrecordError(error)) throw error;
    return error.code;
  }
};

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const decisions = JSON.parse(line) as readonly (readonly [string, Digest, ApprovalDecision])[];
  process.stdout.write(`answers ${(await Promise.all(decisions.map(answer))).join(' ')}\n`);
}
await runtime.close();
