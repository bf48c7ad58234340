import { defineConfig, type Config } from '../../src/index.ts';

const config: Config = defineConfig({ agents: [] });
export default config;
