/**
 * Approvals in a chat: a signed webhook tells the chat that something waits, and the chat's answer comes back
 * through the HTTP door with the digest of what was shown.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { OnrecordClient } from '../../src/client.ts';
import {
  defineAgent,
  MemoryLog,
  openRuntime,
  scriptedModel,
  tool,
  webhookChannel,
  type Digest,
} from '../../src/index.ts';
import { listen } from '../../src/server.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

// The chat's side: it believes only what is signed.
const chat = createServer((request, response) => {
  void bodyOf(request).then(async (body) => {
    const { data } = new Webhook(secret).verify(body, request.headers as Record<string, string>) as {
      readonly data: {
        readonly session: string;
        readonly call: string;
        readonly digest: Digest;
        readonly about: string;
      };
    };
    response.end();
    console.log(`# payments: ${data.about} (approve | reject)`);
    const { session, call, digest } = data;
    await client.decide(session, call, { digest, decision: { do: 'approve' } });
    console.log('# payments: ada approved it');
  });
});
chat.listen(0, '127.0.0.1');
await once(chat, 'listening');
const { port } = chat.address() as AddressInfo;

const pay = tool({
  name: 'invoice.pay',
  description: 'Pays an invoice.',
  inputSchema: z.strictObject({ invoice: z.string() }),
  effect: 'once',
  approval: 'always',
  preview: ({ invoice }) => ({ title: `Pay invoice ${invoice}.`, blocks: [] }),
  execute: ({ invoice }) => ({ paid: invoice }),
});
const payer = defineAgent({
  name: 'payer',
  instructions: 'Pay what is due.',
  tools: [pay],
  model: scriptedModel({
    name: 'script',
    steps: [{ calls: [{ tool: 'invoice.pay', args: { invoice: 'A-1' } }] }, { text: 'A-1 is paid.' }],
  }),
});

const runtime = await openRuntime({
  store: new MemoryLog(),
  agents: [payer],
  notify: [webhookChannel({ name: 'chat', url: `http://127.0.0.1:${port}/`, secret })],
});
const server = await listen({ runtime, port: 0 });
const { token } = await server.app.tokens.add(
  { name: 'ada', roles: ['submit', 'read', 'approve'] },
  { kind: 'program', name: 'example' },
);
const client = new OnrecordClient({ url: server.url, token });

const { session } = await client.createSession({ agent: 'payer', message: 'Pay A-1.' });
for await (const event of runtime.follow(session)) if (event.type === 'turn.ended') break;
const turn = await client.turn(session, 1);
console.log(`${turn.state}: ${turn.text}`);
await server.close();
await runtime.close();
chat.close();
