/** An agent that asks before its one call, and tells the world, outside of any log, of every request and every execution. */
import { appendFileSync } from 'node:fs';
import { scriptedModel } from '../../src/model/scripted.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';

/** `world`: a file that gets "model STEP" and "paid SESSION" lines. */
export const payer = (world: string): Agent => {
  const { definition, encoder } = scriptedModel({ name: 'payer', steps: [] });
  return defineAgent({
    name: 'payer',
    instructions: 'Pay once.',
    model: {
      definition,
      encoder,
      send: async (request) => {
        appendFileSync(world, `model ${request.step}\n`);
        const reply =
          request.step === 1 ? { calls: [{ tool: 'pay', args: { amount: 1 } }] } : { text: 'Done.' };
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    },
    tools: [
      tool({
        name: 'pay',
        description: 'pays',
        inputSchema: { type: 'object' },
        effect: 'once',
        approval: 'always',
        execute: (_: unknown, { call }) => {
          appendFileSync(world, `paid ${call.split(' ')[0]}\n`);
          return 'paid';
        },
      }),
    ],
  });
};
