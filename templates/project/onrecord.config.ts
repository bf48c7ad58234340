/** What `onrecord` finds in this folder: the agents, and the model that answers them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, scriptedModel, type Config } from 'onrecord';
import { readScript } from 'onrecord/testing';
import { clerk } from './clerk.ts';

const folder = import.meta.dirname;
const script = (): string => readFileSync(join(folder, 'script.yaml'), 'utf8');

/** With a key the real model answers; without one the script does: offline, free, the same every time. */
const model =
  process.env['{{key}}'] === undefined ? scriptedModel(readScript(script(), 'script.yaml')) : '{{model}}';

const config: Config = defineConfig({
  agents: [clerk({ desk: join(folder, '.onrecord', 'desk'), model })],
});
export default config;
