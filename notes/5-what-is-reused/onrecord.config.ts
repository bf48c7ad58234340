/** A clerk behind a simulated provider; with a key of Anthropic also one at the real one, for whoever sets a budget. */
import {
  anthropic,
  chatServer,
  defineAgent,
  defineConfig,
  type Agent,
  type Config,
} from '../../src/index.ts';

const REAL_MODEL = 'claude-haiku-4-5';

const provider = chatServer({
  name: 'by-rule',
  baseUrl: process.env['NOTE_PROVIDER'] ?? 'http://127.0.0.1:9',
});

const clerk = defineAgent({
  name: 'clerk',
  instructions: `${process.env['NOTE_INSTRUCTIONS'] ?? 'You write offers for a joiner.'} ${'Be brief, be exact, name prices. '.repeat(12)}`,
  model: provider.model('clerk-1'),
});

const real = (): Agent =>
  defineAgent({
    name: 'real',
    instructions: 'Answer with OK.',
    model: anthropic().model(REAL_MODEL, { max_tokens: 64 }),
  });

const config: Config = defineConfig({
  agents: process.env['NOTE_BUDGET_USD'] === undefined ? [clerk] : [clerk, real()],
  prices: 'prices.yaml',
});
export default config;
