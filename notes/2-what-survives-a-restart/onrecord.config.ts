/** A stockroom's clerk with a tool of every effect kind. What they do is done by a service on a socket. */
import { chatServer, defineAgent, defineConfig, tool, type Config, type Tool } from '../../src/index.ts';

const SERVICE = process.env['NOTE_SERVICE'] ?? 'http://127.0.0.1:9';
const PROVIDER = process.env['NOTE_PROVIDER'] ?? 'http://127.0.0.1:9/v1';

type Input = { readonly tag: string };

const inputSchema = {
  type: 'object',
  properties: { tag: { type: 'string' } },
  required: ['tag'],
  additionalProperties: false,
} as const;

const say = async (path: string, what: string, body: { tag: string; key: string }): Promise<unknown> => {
  const response = await fetch(SERVICE + path, { method: 'POST', body: JSON.stringify({ what, ...body }) });
  return response.json();
};

type Kind = Pick<Parameters<typeof tool>[0], 'effect' | 'approval'>;

const through = (name: string, description: string, { effect, approval = 'never' }: Kind): Tool =>
  tool<Input>({
    name,
    description,
    inputSchema,
    approval,
    ...(effect && { effect }),
    ...(effect === 'reconcilable' && {
      reconcile: async ({ tag }, { idempotencyKey }) => {
        const asked = (await say('/asked', name, { tag, key: idempotencyKey })) as { done: boolean };
        return asked.done ? { happened: true, result: { did: true } } : { happened: false };
      },
    }),
    execute: ({ tag }, { idempotencyKey }) => say('/do', name, { tag, key: idempotencyKey }),
  });

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'You look after a stockroom.',
      model: chatServer({ name: 'by-rule', baseUrl: PROVIDER }).model('clerk-1'),
      tools: [
        through('stock.read', 'Counts what is there.', { effect: 'none' }),
        through('stock.set', 'Sets a count, under a key.', { effect: 'idempotent' }),
        through('order.file', 'Files an order; the service can be asked for it.', { effect: 'reconcilable' }),
        through('driver.ring', 'Rings the driver.', { effect: 'once' }),
        through('invoice.send', 'Sends an invoice, under a key.', { effect: 'idempotent', approval: 'always' }),
      ],
    }),
  ],
});
export default config;
