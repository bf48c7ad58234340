/**
 * The pictures of the documentation, made from the real window: the example session of `npm start` in Chromium, over
 * the real server. `npm run pictures` writes them to docs/pictures.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { exampleAgents } from '../examples/agents.ts';
import { SqliteLog } from '../src/log/sqlite.ts';
import { listen } from '../src/server/listen.ts';
import { openRuntime } from '../src/worker/runtime.ts';
import { launchServer } from '../test/web/browser.ts';
import { AGENT, CHECKOUT, MESSAGE } from './demo-folder.ts';

const FOLDER = join(CHECKOUT, 'docs', 'pictures');
const SIZE = { width: 1360, height: 850 } as const;
const QUALITY = 88;
const SETUP = { kind: 'program', name: 'pictures' } as const;

const take = async (page: Page, name: string): Promise<void> => {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  const client = await page.context().newCDPSession(page);
  const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(join(FOLDER, `${name}.webp`), bytes);
  console.log(`docs/pictures/${name}.webp, ${Math.ceil(bytes.length / 1000)} kB`);
};

await build({
  configFile: join(CHECKOUT, 'vite.config.ts'),
  root: join(CHECKOUT, 'src/web'),
  logLevel: 'warn',
});
const desk = mkdtempSync(join(tmpdir(), 'onrecord-pictures-'));
const runtime = await openRuntime({
  store: new SqliteLog(join(desk, 'log.db')),
  agents: exampleAgents(join(desk, 'desks')),
});
const door = await listen({ runtime, port: 0 });
const server = await launchServer();
try {
  mkdirSync(FOLDER, { recursive: true });
  const { session } = await runtime.send({
    agent: AGENT,
    message: MESSAGE,
    by: { kind: 'person', name: 'anna' },
  });
  await runtime.rest(session);
  const { token } = await door.app.tokens.add(
    { name: 'anna', roles: ['submit', 'read', 'approve', 'operate'] },
    SETUP,
  );
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light', timezoneId: 'UTC' });
  await page.goto(`${door.url}/sign-in#${door.app.tickets.issue(token)}`);
  await page.waitForURL(/\/sessions/);
  await page.goto(`${door.url}/s/${session}`);
  await page.getByText('Friday 4 December').first().waitFor();
  await take(page, 'session');
  await page.goto(`${door.url}/inbox`);
  await page.getByText('calendar').first().waitFor();
  await take(page, 'inbox');
  await browser.close();
} finally {
  await server.close();
  await door.close();
  await runtime.close();
  rmSync(desk, { recursive: true, force: true });
}
