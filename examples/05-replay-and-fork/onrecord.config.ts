/** A session of two turns, to be proved, replayed and forked. */
import { defineAgent, defineConfig, scriptedModel, type Config } from '../../src/index.ts';

const config: Config = defineConfig({
  agents: [
    defineAgent({
      name: 'guide',
      instructions: 'Name one town.',
      model: scriptedModel({
        name: 'script',
        steps: [{ text: 'Graz.' }, { text: 'Then Linz.' }, { text: 'By train, two hours.' }],
      }),
    }),
  ],
});
export default config;
