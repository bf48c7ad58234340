/** A clerk with one tool that only reads, behind a provider on a socket, with prices. */
import { chatServer, defineAgent, defineConfig, tool, type Config } from '../../src/index.ts';

const provider = chatServer({
  name: 'by-rule',
  baseUrl: process.env['NOTE_PROVIDER'] ?? 'http://127.0.0.1:9',
});

const read = tool({
  name: 'stock.read',
  description: 'Counts what is there.',
  inputSchema: { type: 'object', additionalProperties: false },
  effect: 'none',
  execute: () => ({ hinges: 40 }),
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'You look after a stockroom.',
      model: provider.model('clerk-1'),
      tools: [read],
    }),
  ],
  prices: 'prices.yaml',
});
export default config;
