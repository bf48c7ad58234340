/** Once for all tests of the window: the pages are built, and one Chromium waits for whoever connects to it. */
import { join, resolve } from 'node:path';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { launchServer } from './browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser listens. */
    readonly browser: string;
  }
}

const ROOT = resolve(import.meta.dirname, '../..');

const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  // What is shipped is tested: under the runner's own value the pages would be those of a developer.
  process.env['NODE_ENV'] = 'production';
  const [browser] = await Promise.all([
    launchServer(),
    build({
      configFile: join(ROOT, 'vite.config.ts'),
      root: join(ROOT, 'src/web'),
      logLevel: 'warn',
    }),
  ]);
  project.provide('browser', browser.wsEndpoint());
  return async () => {
    await browser.close();
  };
};
export default setup;
