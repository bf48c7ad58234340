/** This checkout's agents: the examples. Their desks and the store lie in .onrecord/. */
import { join } from 'node:path';
import { exampleAgents } from './examples/agents.ts';
import { defineConfig, type Config } from './src/cli/config.ts';

const config: Config = defineConfig({
  agents: exampleAgents(join(import.meta.dirname, '.onrecord', 'desks')),
});
export default config;
