/** A real Chromium: the one in PATH, or the one that comes with the development dependencies. */
import chromiumFiles from '@sparticuz/chromium';
import { chromium as driver, type BrowserServer, type LaunchOptions } from 'playwright-core';
import { chromium as installed } from '../kit/chromium.ts';

const options = async (): Promise<LaunchOptions> => ({
  executablePath: installed ?? (await chromiumFiles.executablePath()),
  // Not the arguments that the package of files proposes: in one process alone a browser dies with its first window.
  args: ['--no-sandbox', '--disable-background-networking'],
  headless: true,
});

/** Takes connections of several processes. */
export const launchServer = async (): Promise<BrowserServer> => driver.launchServer(await options());
