/** The stockroom for itself; its desk and its record lie in .onrecord/. */
import { join } from 'node:path';
import { defineConfig, type Config } from '../../src/cli/config.ts';
import { stockroom } from './agent.ts';

const config: Config = defineConfig({
  agents: [stockroom({ desk: join(import.meta.dirname, '.onrecord', 'desk') })],
});
export default config;
