/** The HTTP door and its client: the same key is the same turn, however often it is sent. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OnrecordClient } from '../../src/client.ts';
import { defineAgent, openRuntime, scriptedModel, SqliteLog } from '../../src/index.ts';
import { listen } from '../../src/server.ts';

const agent = defineAgent({
  name: 'echo',
  instructions: 'Answer.',
  model: scriptedModel({ name: 'script', steps: [{ text: 'I heard you.' }] }),
});
const store = new SqliteLog(join(mkdtempSync(join(tmpdir(), 'onrecord-example-')), 'log.db'));
const runtime = await openRuntime({ store, agents: [agent] });
const server = await listen({ runtime, port: 0 });
const { token } = await server.app.tokens.add(
  { name: 'example', roles: ['submit', 'read'] },
  { kind: 'program', name: 'example' },
);
const client = new OnrecordClient({ url: server.url, token });

const first = await client.createSession(
  { agent: 'echo', message: 'Hello.' },
  { key: 'mail-17', waitSeconds: 10 },
);
console.log(`turn ${first.turn} is ${first.state}: ${first.text}`);

// The answer got lost, so the caller asks again with the name of the turn.
const again = await client.createSession(
  { agent: 'echo', message: 'Hello.' },
  { key: 'mail-17', waitSeconds: 10 },
);
console.log(
  `the same session: ${again.session === first.session}, the same turn: ${again.turn === first.turn}`,
);

try {
  await client.createSession({ agent: 'echo', message: 'Something else.' }, { key: 'mail-17' });
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
await server.close();
await runtime.close();
