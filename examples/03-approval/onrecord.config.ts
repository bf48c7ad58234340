/** Two payments in one step: one is approved, the other rejected, and each gets exactly its own answer. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, scriptedModel, tool, type Config } from '../../src/index.ts';

const desk = join(import.meta.dirname, '.onrecord');

const pay = tool({
  name: 'invoice.pay',
  description: 'Pays an invoice.',
  inputSchema: z.strictObject({ invoice: z.string(), cents: z.int().positive() }),
  effect: 'once',
  preview: ({ invoice, cents }) => ({
    title: `Pay ${(cents / 100).toFixed(2)} for invoice ${invoice}.`,
    blocks: [],
  }),
  execute: ({ invoice, cents }) => {
    mkdirSync(desk, { recursive: true });
    appendFileSync(join(desk, 'paid.log'), `${invoice} ${cents}\n`);
    return { paid: invoice };
  },
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'payer',
      instructions: 'Pay what is due.',
      tools: [pay],
      policy: {
        rules: [
          { id: 'small', do: 'allow', tools: ['invoice.pay'], when: [{ at: '/cents', atMost: 1000 }] },
          { id: 'large', do: 'ask', tools: ['invoice.pay'], reason: 'More than 10.00 leaves the house.' },
        ],
      },
      model: scriptedModel({
        name: 'script',
        steps: [
          {
            calls: [
              { tool: 'invoice.pay', args: { invoice: 'A-1', cents: 900 } },
              { tool: 'invoice.pay', args: { invoice: 'B-2', cents: 45_000 } },
              { tool: 'invoice.pay', args: { invoice: 'C-3', cents: 99_000 } },
            ],
          },
          { text: 'A-1 and B-2 are paid. C-3 is not.' },
        ],
      }),
    }),
  ],
});
export default config;
