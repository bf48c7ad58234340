import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

const LONG = 'test/**/*.long.test.ts';
const WEB = 'test/web/**/*.test.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The default of one second is a guess about the machine: a test waits for a condition, this only ends it.
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    // One process a core; the default leaves one of two idle.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, LONG, WEB],
        },
      },
      // They share one browser and one build of the pages, which is there only where one of them runs.
      {
        extends: true,
        test: {
          name: 'web',
          include: [WEB],
          exclude: [...configDefaults.exclude, LONG],
          globalSetup: ['test/web/global-setup.ts'],
          // Many steps of a browser, each with a deadline of its own (test/web/window.ts).
          testTimeout: 120_000,
        },
      },
    ],
  },
});
export default config;
