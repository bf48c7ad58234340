/** A tool that calls a driver, and a process that dies between the call and its record. */
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, scriptedModel, tool, type Config } from '../../src/index.ts';

const desk = join(import.meta.dirname, '.onrecord');
const log = join(desk, 'driver.log');

const call = tool({
  name: 'driver.call',
  description: 'Calls the driver.',
  inputSchema: z.strictObject({ order: z.string() }),
  // Nobody can be asked afterwards whether the phone rang.
  effect: 'once',
  approval: 'never',
  execute: ({ order }) => {
    mkdirSync(desk, { recursive: true });
    const first = !existsSync(log);
    appendFileSync(log, `${order}\n`);
    if (first) process.kill(process.pid, 'SIGKILL');
    return { called: order };
  },
});

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'dispatcher',
      instructions: 'Call the driver once for each order.',
      tools: [call],
      model: scriptedModel({
        name: 'script',
        steps: [{ calls: [{ tool: 'driver.call', args: { order: 'A-7' } }] }, { text: 'The driver knows.' }],
      }),
    }),
  ],
});
export default config;
