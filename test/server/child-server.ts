/**
 * A server of its own, as a process: `node child-server.ts FOLDER PORT [POINT#N]`. It kills itself, once, when the
 * n-th of those fault points is reached; a file in the folder remembers that it did.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { listen } from '../../src/server/listen.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import type { Faults } from '../../src/worker/fault-point.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const [folder = '', port = '0', kill = ''] = process.argv.slice(2);
const [point = '', number = '1'] = kill.split('#');
const killed = join(folder, 'killed');

let seen = 0;
const faults: Faults = {
  reach: async (reached) => {
    if (reached !== point || existsSync(killed)) return;
    seen += 1;
    if (seen < Number(number)) return;
    writeFileSync(killed, `${point}#${number}`);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
};

/** Counted outside: every time it really happens. Running it again with the same key changes nothing more. */
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  effect: 'idempotent',
  approval: 'never',
  execute: (_, { idempotencyKey }) => {
    appendFileSync(join(folder, 'payments'), `${idempotencyKey}\n`);
    return 'paid';
  },
});

const agent = defineAgent({
  name: 'clerk',
  instructions: 'Pay what you are told to.',
  model: scriptedModel({
    name: 'pays',
    steps: [{ calls: [{ tool: 'pay', args: { n: 1 } }] }, { text: 'Paid.' }],
  }),
  tools: [pay],
});

const store = new SqliteLog(join(folder, 'log.db'));
const runtime = await openRuntime({ store, agents: [agent], faults });
const door = await listen({ runtime, port: Number(port) });
if (process.send) {
  const rows = await door.app.tokens.list();
  const by = { kind: 'program', name: 'test' } as const;
  const made =
    rows.length === 0
      ? await door.app.tokens.add({ name: 'anna', roles: ['submit', 'read', 'approve', 'operate'] }, by)
      : undefined;
  process.send({ port: door.port, token: made?.token });
  process.on('message', () => {
    void door
      .close()
      .then(() => runtime.close())
      .then(() => process.disconnect?.());
  });
}
