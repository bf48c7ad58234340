/** A clerk for complaints. What it does in the world is done by a service on a socket. */
import { defineAgent, defineConfig, scriptedModel, tool, type Config, type Tool } from '../../src/index.ts';

const SERVICE = process.env['NOTE_SERVICE'] ?? '';

const deed = (name: string, description: string, effect: 'none' | 'idempotent'): Tool =>
  tool<object>({
    name,
    description,
    inputSchema: { type: 'object' },
    effect,
    approval: effect === 'none' ? 'never' : 'policy',
    execute: async (input, { idempotencyKey }) => {
      const body = JSON.stringify({ what: name, tag: JSON.stringify(input), key: idempotencyKey });
      await fetch(`${SERVICE}/do`, { method: 'POST', body });
      return effect === 'none' ? { order: 'A-7', paid: 500, customer: 'ada@halden.example' } : { done: true };
    },
  });

const order = 'A-7';

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'You answer complaints about orders.',
      tools: [
        deed('order.find', 'Finds an order.', 'none'),
        deed('refund', 'Pays cents of an order back.', 'idempotent'),
        deed('letter.send', 'Sends a letter to a customer.', 'idempotent'),
      ],
      policy: { rules: [{ id: 'may-act', do: 'allow' }] },
      model: scriptedModel({
        name: 'careful-5',
        steps: [
          { calls: [{ tool: 'order.find', args: { order } }] },
          { calls: [{ tool: 'refund', args: { order, cents: 500 } }] },
          {
            calls: [{ tool: 'letter.send', args: { to: 'ada@halden.example', text: 'You have 5.00 back.' } }],
          },
          { text: 'Order A-7 is paid back, and the customer knows.' },
        ],
      }),
    }),
  ],
});
export default config;
