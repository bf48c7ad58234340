/** A tool whose preview shows what would change, made from the exact arguments and the world as it is. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, scriptedModel, tool, type Config } from '../../src/index.ts';

const file = join(import.meta.dirname, '.onrecord', 'price.txt');

const setPrice = tool({
  name: 'price.set',
  description: 'Sets the price of the lamp, in cents.',
  inputSchema: z.strictObject({ cents: z.int().positive() }),
  effect: 'idempotent',
  approval: 'always',
  preview: ({ cents }) => {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '4900';
    return {
      title: `Change the price from ${before} to ${cents} cents.`,
      blocks: [{ kind: 'text', text: `The shop sells at ${(cents / 100).toFixed(2)} from now on.` }],
      base: before,
    };
  },
  execute: ({ cents }) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, String(cents));
    return { cents };
  },
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'pricer',
      instructions: 'Set prices as you are told.',
      tools: [setPrice],
      model: scriptedModel({
        name: 'script',
        steps: [{ calls: [{ tool: 'price.set', args: { cents: 5200 } }] }, { text: 'The lamp costs 52.00.' }],
      }),
    }),
  ],
});
export default config;
