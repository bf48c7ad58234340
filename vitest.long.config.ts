/** What takes too long for every `npm test`: files of its own, and files that try everything here (test/kit/long.ts). */
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

const WEB = 'test/web/**/*.long.test.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    env: { TEST_LONG: '1' },
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: [
            'test/**/*.long.test.ts',
            'test/crash/simulation.test.ts',
            'test/examples/killed.test.ts',
            'test/model/openai-split.test.ts',
            'test/room/repeatable.test.ts',
            'test/server/restart.test.ts',
            'test/verify/bit-flip.test.ts',
          ],
          exclude: [...configDefaults.exclude, WEB],
        },
      },
      {
        extends: true,
        test: { name: 'web', include: [WEB], globalSetup: ['test/web/global-setup.ts'] },
      },
    ],
  },
});
export default config;
