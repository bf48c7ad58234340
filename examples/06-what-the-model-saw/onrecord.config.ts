/** An agent that keeps only the last two turns in its requests. */
import { defineAgent, defineConfig, scriptedModel, type Config } from '../../src/index.ts';

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'memo',
      instructions: 'Remember what you are told.',
      context: { select: { kind: 'last-turns', turns: 2 } },
      model: scriptedModel({
        name: 'script',
        steps: [{ text: 'The code is 4711.' }, { text: 'Noted: blue.' }, { text: 'I only know of blue.' }],
      }),
    }),
  ],
});
export default config;
