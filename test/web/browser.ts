/** A real Chromium: the one in PATH, or the one that comes with the development dependencies. */
import chromiumFiles from '@sparticuz/chromium';
import { chromium as driver, type Browser } from 'playwright-core';
import { chromium as installed } from '../kit/chromium.ts';

export const launch = async (): Promise<Browser> =>
  driver.launch({
    executablePath: installed ?? (await chromiumFiles.executablePath()),
    args: [
      ...(installed === undefined ? chromiumFiles.args : ['--no-sandbox']),
      '--disable-background-networking',
    ],
    headless: true,
  });
