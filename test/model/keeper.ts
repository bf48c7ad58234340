/** The agent of the story: it reads shelves, and adds to a ledger what a person approves. */
import type { Model } from '../../src/model/model.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';

/** `done`: the tools' own record of what they were given. */
export const keeper = (model: Model, done: string[]): Agent => {
  const item = { type: 'string' } as const;
  return defineAgent({
    name: 'keeper',
    instructions: 'Keep the ledger.',
    model,
    tools: [
      tool({
        name: 'stock.read',
        description: 'Reads a shelf.',
        inputSchema: { type: 'object', properties: { shelf: item }, required: ['shelf'] },
        effect: 'none',
        execute: (input) => {
          done.push(`read ${JSON.stringify(input)}`);
          return `12 bolts on ${JSON.stringify(input)}`;
        },
      }),
      tool({
        name: 'ledger.add',
        description: 'Adds a line.',
        inputSchema: { type: 'object', properties: { item, count: { type: 'integer' } }, required: ['item'] },
        effect: 'once',
        execute: (input) => {
          done.push(
            `add ${JSON.stringify(input, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`,
          );
          return 'Added.';
        },
      }),
    ],
    policy: {
      rules: [
        { id: 'reads', effects: ['none'], do: 'allow' },
        { id: 'rest', do: 'ask' },
      ],
    },
  });
};
