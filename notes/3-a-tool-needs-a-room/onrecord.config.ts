/** An agent with one tool for each room that is to be tried. The model is a script and runs the same program in all. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAgent, defineConfig, scriptedModel, type Config } from '../../src/index.ts';
import { javascriptTools, type JavascriptToolsOptions } from '../../src/tools.ts';

const ROOMS: Readonly<Record<string, JavascriptToolsOptions>> = {
  wasm: { level: 'wasm' },
  gvisor: { level: 'gvisor' },
  'gvisor-node': { level: 'gvisor', engine: 'node' },
};

const code = readFileSync(join(import.meta.dirname, 'look.js.txt'), 'utf8');
const input = JSON.parse(process.env['NOTE_INPUT'] ?? '{}') as Record<string, string>;
const names = (process.env['NOTE_ROOMS'] ?? 'wasm').split(',');
const folder = process.env['NOTE_ROOMS_FOLDER'];

const tools = await Promise.all(
  names.map((name) =>
    javascriptTools({
      name: `run_in_${name}`,
      warm: 0,
      ...ROOMS[name],
      ...(folder !== undefined && { folder }),
    }),
  ),
);

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'prober',
      instructions: 'You run the program that you are given.',
      tools: tools.flat(),
      model: scriptedModel({
        name: 'prober-by-script',
        steps: [
          { calls: names.map((name) => ({ tool: `run_in_${name}`, args: { code, input } })) },
          { text: 'It ran.' },
        ],
      }),
    }),
  ],
});
export default config;
