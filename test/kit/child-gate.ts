/**
 * A process that opens and closes the gate of a store. Usage: child-gate.ts FILE
 * It reads a mode a line, sets it for the whole store, and prints "set MODE" once that has returned.
 */
import { createInterface } from 'node:readline';
import type { Mode } from '../../src/event/definition.ts';
import { childStore } from './child-store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const runtime = await openRuntime({
  store: await childStore(process.argv[2] ?? ''),
  agents: [],
  drive: false,
});
process.stdout.write('open\n');
for await (const mode of createInterface({ input: process.stdin })) {
  await runtime.setMode(mode as Mode, { by: { kind: 'person', name: 'operator' } });
  process.stdout.write(`set ${mode}\n`);
}
await runtime.close();
