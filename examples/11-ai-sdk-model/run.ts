/** Any language model of the AI SDK (specification v4) is a model here; this one is the SDK's own mock. */
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { defineAgent, MemoryLog, openRuntime } from '../../src/index.ts';

const usage = {
  inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
const model = new MockLanguageModelV4({
  provider: 'acme',
  modelId: 'small',
  doStream: async () => ({
    stream: simulateReadableStream({
      chunks: [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'Good ' },
        { type: 'text-delta', id: '1', delta: 'day.' },
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
      ],
    }),
  }),
});

const agent = defineAgent({ name: 'greeter', instructions: 'Greet.', model });
const runtime = await openRuntime({ store: new MemoryLog(), agents: [agent] });
const { session } = await runtime.send({ agent: 'greeter', message: 'Hello.' });
runtime.watch(session, (delta) => delta.type === 'text' && console.log(`delta: ${delta.text}`));
await runtime.rest(session);
for await (const event of runtime.follow(session)) {
  if (event.type === 'response.received') console.log(JSON.stringify(event.data.usage));
  if (event.type === 'turn.ended') break;
}
await runtime.close();
