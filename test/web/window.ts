/**
 * The window as a person has it: a real server on a socket over a real store with example agents, and a page of a real
 * Chromium that was signed in by the printed address. Whatever the page complains about fails the test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';
import { exampleAgents } from '../../examples/agents.ts';
import { OnrecordClient } from '../../src/client.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { DOOR_ROLES } from '../../src/server/tokens.ts';
import type { Agent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { Line } from './line.ts';

const SETUP = { kind: 'program', name: 'setup' } as const;

/** Every page of a test signs in. */
const LIMITS = { loginsPerMinute: 1000 } as const;

let browser: Promise<Browser> | undefined;

/** The one browser of this run. */
export const theBrowser = (): Promise<Browser> => {
  browser ??= chromium.connect(inject('browser'));
  return browser;
};

export type HouseOptions = {
  /** By default the three of the examples, each at a desk of its own. */
  readonly agents?: readonly Agent[];
  /** An existing store. */
  readonly store?: string;
};

export type PageOptions = BrowserContextOptions & {
  readonly theme?: 'light' | 'dark';
  /** The name of whoever looks; default "anna". */
  readonly name?: string;
  readonly roles?: readonly string[];
  /** Complaints of the page that this test brings about. */
  readonly expects?: RegExp;
};

/** A server that can be stopped and started again on the same port. */
export class WebHouse {
  readonly folder: string;
  readonly #agents: readonly Agent[];
  readonly #store: string;
  #runtime: Runtime | undefined;
  #door: Listening | undefined;

  /** Pages reach the server over it. */
  readonly line: Line;

  private constructor(line: Line, { agents, store }: HouseOptions) {
    this.line = line;
    this.folder = mkdtempSync(join(tmpdir(), 'onrecord-web-'));
    this.#agents = agents ?? exampleAgents(join(this.folder, 'desks'));
    this.#store = store ?? join(this.folder, 'log.db');
  }

  static async open(options: HouseOptions = {}): Promise<WebHouse> {
    const house = new WebHouse(await Line.open(), options);
    await house.start();
    return house;
  }

  /** Where reports of suites are looked for. */
  get reports(): string {
    return join(this.folder, 'reports');
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('the house is closed');
    return this.#runtime;
  }

  get door(): Listening {
    if (!this.#door) throw new Error('the house is closed');
    return this.#door;
  }

  get url(): string {
    return `http://127.0.0.1:${this.line.port}`;
  }

  async start(): Promise<void> {
    this.#runtime = await openRuntime({ store: new SqliteLog(this.#store), agents: this.#agents });
    this.#door = await listen({
      runtime: this.#runtime,
      port: 0,
      names: [`127.0.0.1:${this.line.port}`],
      limits: LIMITS,
      reports: this.reports,
    });
    this.line.lead(this.#door.port);
  }

  async stop(): Promise<void> {
    this.line.lead(undefined);
    await this.#door?.close(0);
    await this.#runtime?.close({ drainMs: 0 });
    this.#door = undefined;
    this.#runtime = undefined;
  }

  /** Stops it for good. */
  async end(): Promise<void> {
    await this.stop();
    await this.line.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async token(name: string, roles: readonly string[] = DOOR_ROLES): Promise<string> {
    return (await this.door.app.tokens.add({ name, roles }, SETUP)).token;
  }

  async client(name = 'script'): Promise<OnrecordClient> {
    return new OnrecordClient({ url: this.door.url, token: await this.token(name) });
  }

  /** A browser window of its own, signed in, at this address of the window. Closed with the test. */
  async page(path = '/sessions', options: PageOptions = {}): Promise<Page> {
    const { theme = 'light', name = 'anna', roles, expects, ...more } = options;
    const context = await (
      await theBrowser()
    ).newContext({
      colorScheme: theme,
      reducedMotion: 'reduce',
      timezoneId: 'Europe/Vienna',
      ...more,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    const complain = (text: string): void => {
      if (expects?.test(text) !== true) complaints.push(text);
    };
    page.on('pageerror', (error) => complain(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
    });
    onTestFinished(async () => {
      await context.close();
      if (complaints.length > 0) throw new Error(`The page complained:\n${complaints.join('\n')}`);
    });
    page.setDefaultTimeout(STEP_MS);
    const ticket = this.door.app.tickets.issue(await this.token(name, roles));
    await page.goto(`${this.url}/sign-in#${ticket}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (path !== '/sessions') await page.goto(`${this.url}${path}`);
    return page;
  }
}

/** Stops the clock of a page: what it would do after a while it does when `page.clock` lets the time pass. */
export const stopClock = async (page: Page): Promise<void> => {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
};

/** How long a page may take for one step; the machine may be busy. */
const STEP_MS = 30_000;

/** Starts a house for one test. */
export const openHouse = async (options?: HouseOptions): Promise<WebHouse> => {
  const house = await WebHouse.open(options);
  onTestFinished(() => house.end());
  return house;
};
