/** A stockroom's clerk with a tool of every effect kind. What they do is done by a service on a socket. */
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
      instructions: 'You look after a stockroom.',
      model: provider.model('clerk-1'),
      tools: [
        remoteTool({ service, name: 'stock.read', description: 'Counts what is there.', effect: 'none' }),
        remoteTool({
          service,
          name: 'stock.set',
          description: 'Sets a count, by key.',
          effect: 'idempotent',
        }),
        remoteTool({ service, name: 'order.file', description: 'Files an order.', effect: 'reconcilable' }),
        remoteTool({ service, name: 'driver.ring', description: 'Rings the driver.', effect: 'once' }),
        remoteTool({
          service,
          name: 'invoice.send',
          description: 'Sends an invoice, by key.',
          effect: 'idempotent',
          approval: 'always',
        }),
      ],
    }),
  ],
});
export default config;
