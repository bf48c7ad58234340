/** A clerk that pays bills through a service on a socket, which is told the key of each call. */
import { chatServer, defineAgent, defineConfig, type Config } from '../../src/index.ts';
import { remoteTool } from '../kit/remote-tool.ts';

const service = process.env['NOTE_SERVICE'] ?? '';
const provider = chatServer({
  name: 'by-rule',
  baseUrl: process.env['NOTE_PROVIDER'] ?? 'http://127.0.0.1:9',
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'You pay bills.',
      model: provider.model('clerk-1'),
      tools: [
        remoteTool({ service, name: 'pay', description: 'Pays a bill, by key.', effect: 'idempotent' }),
      ],
    }),
  ],
});
export default config;
