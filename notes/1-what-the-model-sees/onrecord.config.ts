/** A joiner's clerk. The model is a script: it says the same to everybody. */
import { defineAgent, defineConfig, scriptedModel, tool, type Config } from '../../src/index.ts';

/** Words of the request that asks for a summary, as the record holds it. */
const ASKS_FOR_SUMMARY = 'Write a summary of everything above.';

const OFFER = 'The offer is written.';

const model = scriptedModel({
  name: 'clerk-by-script',
  steps: [
    { text: 'Noted.' },
    { calls: [{ tool: 'price.find', args: { wood: 'beech' } }] },
    { text: 'Beech is 61 a square metre.' },
    { text: 'Oak, then.' },
    { calls: [{ tool: 'price.find', args: { wood: 'oak' } }] },
    { text: 'Oak is 84 a square metre.' },
    {
      choose: [
        {
          when: ASKS_FOR_SUMMARY,
          text: 'Halden Joinery, door code 4711. They want oak, 84 a square metre.',
        },
        { text: OFFER },
      ],
    },
    { text: OFFER },
  ],
});

const prices: Readonly<Record<string, number>> = { beech: 61, oak: 84 };

const findPrice = tool<{ readonly wood: string }>({
  name: 'price.find',
  description: 'Finds the price of a square metre of a wood.',
  inputSchema: {
    type: 'object',
    properties: { wood: { type: 'string' } },
    required: ['wood'],
    additionalProperties: false,
  },
  effect: 'none',
  execute: ({ wood }) => ({ wood, price: prices[wood] ?? null }),
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'You write offers for a joiner. Be brief.',
      model,
      tools: [findPrice],
    }),
  ],
});
export default config;
