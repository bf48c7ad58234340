/** What every worker takes: one agent, and a database that all of them share. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent, defineConfig, scriptedModel, tool, type Config } from '../../src/index.ts';

const desk = join(import.meta.dirname, '.onrecord');
/** Where labels come out: a line when a worker begins one, a line when it is printed. */
export const PRINTER: string = join(desk, 'printer.log');
const PRINTING_MS = 300;

const print = tool({
  name: 'label.print',
  description: 'Prints the label of an order.',
  inputSchema: z.strictObject({}),
  // The printer knows the keys of what it printed: the same key again is the same label.
  effect: 'idempotent',
  approval: 'never',
  execute: async (_, { idempotencyKey }) => {
    mkdirSync(desk, { recursive: true });
    appendFileSync(PRINTER, `${process.pid} begins ${idempotencyKey}\n`);
    await pause(PRINTING_MS);
    appendFileSync(PRINTER, `${process.pid} printed ${idempotencyKey}\n`);
    return { printed: true };
  },
});

const config: Config = defineConfig({
  store: process.env['ONRECORD_STORE'] ?? '.onrecord/log.db',
  agents: [
    defineAgent({
      name: 'packer',
      instructions: 'Print the label of the order.',
      tools: [print],
      model: scriptedModel({
        name: 'script',
        steps: [{ calls: [{ tool: 'label.print' }] }, { text: 'The label is printed.' }],
      }),
    }),
  ],
});
export default config;
