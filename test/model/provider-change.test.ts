/**
 * One session that changes its provider twice. What the new one cannot read stays out of its requests and stays in
 * the record; back at the first one it returns, byte for byte. Every request can be made again from the log.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Cli } from '../../src/cli/cli.ts';
import { encodersOf } from '../../src/cli/proof.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { aiSdkModel } from '../../src/model/ai-sdk.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import type { Model } from '../../src/model/model.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { replay } from '../../src/replay/replay.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { agentOf } from './openai-stage.ts';
import { storyModel, type Asked } from './scenario-ai-sdk.ts';
import { anthropicEvents, anthropicSse } from './scenario-anthropic.ts';

const SIGNATURE = 'c2lnbmVkIGJ5IG5vYm9keSBpbiBwYXJ0aWN1bGFyLCBidXQgbG9uZw==';
const LATER: ScriptReply = { reasoning: 'Elsewhere.', text: 'From there.' };

test('a change of provider and back: nothing foreign is sent, nothing own is lost', async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(anthropicSse(anthropicEvents({ reasoning: 'First.', text: `Here, ${bodies.length}.` })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked: Asked[] = [];
  const here = (): Model =>
    anthropic({ baseUrl, credential: 'A_KEY', env: { A_KEY: 'sk-ant-change-123456' } }).model('claude');
  const there = (): Model => aiSdkModel(storyModel(() => LATER, asked));

  const file = tempFile();
  let session: string | undefined;
  for (const [turn, model] of [here(), there(), here(), there()].entries()) {
    const agent = defineAgent({ name: 'clerk', instructions: 'Be brief.', model });
    const runtime = await openRuntime({ store: new SqliteLog(file), agents: [agent] });
    const message = `Message ${turn}.`;
    const sent = await runtime.send(
      session === undefined ? { agent: 'clerk', message } : { session, message },
    );
    session = sent.session;
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    await runtime.close();
  }

  const store = openSqlite(file);
  const events: readonly LogEvent[] = (await store.read(session ?? '')).map(open);
  expect(events.filter(({ type }) => type === 'agent.updated')).toHaveLength(3);
  // The other provider was told the words and nothing that it cannot read.
  const toThere = JSON.stringify(asked[0]?.options.prompt);
  expect(toThere).toContain('Here, 1.');
  expect(toThere).not.toContain(SIGNATURE);
  expect(toThere).not.toContain('First.');
  // Back at the first one its own thinking is there again, and the other's is not.
  const again = JSON.parse(bodies[1] ?? '') as { messages: { role: string; content: object[] }[] };
  expect(again.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  expect(again.messages[1]?.content).toEqual([
    { type: 'thinking', thinking: 'First.', signature: SIGNATURE },
    { type: 'text', text: 'Here, 1.' },
  ]);
  expect(again.messages[3]?.content).toEqual([{ type: 'text', text: 'From there.' }]);
  // The other one, too, gets its own reasoning back the second time.
  expect(JSON.stringify(asked[1]?.options.prompt)).toContain(
    '"providerOptions":{"story":{"signature":"c2lnbmVk"}}',
  );

  const models = new Map([here(), there()].map(({ definition, encoder }) => [definition.provider, encoder]));
  const replayed = replay({
    session: session ?? '',
    events,
    encoderOf: ({ model }) => models.get(model.provider),
    program: PROGRAM,
  });
  expect(replayed).toMatchObject({ requests: 4, requestsUnknown: 0, difference: undefined });
  const built = events.filter(({ type }) => type === 'request.built');
  const source = { eventAt: (seq: number) => events[seq - 1], blob: (digest: Digest) => store.blob(digest) };
  expect((await rebuildRequest(source, built[2]?.seq ?? 0)).body).toBe(bodies[1]);
});

test('onrecord replay knows the form of every provider, also where no agent uses it any more', async () => {
  const cli = { config: () => Promise.resolve({ agents: [] }) } as unknown as Cli;
  const encoderOf = await encodersOf(cli);
  const names = ['anthropic', 'openai', 'scripted', 'acme'].map((provider) => {
    const model = { provider, name: 'gone', params: {} };
    return encoderOf(agentOf(model))?.name;
  });
  expect(names).toEqual(['anthropic-messages/anthropic', 'openai-responses/openai', 'neutral', undefined]);
});
