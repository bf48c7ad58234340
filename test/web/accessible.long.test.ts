/** What axe finds on the pages of sessions in each theme and width. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { MESSAGE } from '../../scripts/demo-folder.ts';
import { seriousIn } from './axe.ts';
import { WebHouse } from './window.ts';

let house: WebHouse;
let session = '';

beforeAll(async () => {
  house = await WebHouse.open();
  const client = await house.client();
  ({ session } = await client.createSession(
    { agent: 'inbox-assistant', message: MESSAGE },
    { waitSeconds: 40 },
  ));
});

afterAll(() => house.end());

type Look = {
  readonly name: string;
  readonly path: () => string;
  readonly seen: string;
  readonly act?: (page: Page) => Promise<void>;
};

const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const LOOKS: readonly Look[] = [
  { name: 'sessions', path: () => '/sessions', seen: '.sessions .title a' },
  {
    name: 'a new session',
    path: () => '/sessions',
    seen: '.sessions .title a',
    act: (page) => page.getByRole('button', { name: /New session/ }).click(),
  },
  { name: 'settings', path: () => '/settings', seen: '.facts' },
  { name: 'a session, live', path: () => `/s/${session}`, seen: '.event .sentence:not(.unread)' },
  { name: 'a session, selected', path: () => `/s/${session}?sel=9&tab=diff&req=2`, seen: '.change' },
  { name: 'a session, past', path: () => `/s/${session}?at=20&view=rec`, seen: '.past' },
  { name: 'its request', path: () => `/s/${session}?view=req`, seen: '.part, .parts' },
  { name: 'its open work', path: () => `/s/${session}?view=work`, seen: '.dock li' },
  {
    name: 'the palette',
    path: () => `/s/${session}`,
    seen: '.session-head h1',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('option').first().waitFor();
    },
  },
  {
    name: 'the keys',
    path: () => `/s/${session}`,
    seen: '.session-head h1',
    act: (page) => page.keyboard.press('?'),
  },
  { name: 'nothing there', path: () => '/s/s_NOTHING', seen: '.empty' },
];

describe('axe finds nothing serious', () => {
  for (const theme of ['light', 'dark'] as const)
    for (const viewport of [WIDE, PHONE])
      test(`${theme}, ${viewport.width} wide`, async () => {
        const page = await house.page('/sessions', { theme, viewport, expects: /404/ });
        const found: string[] = [];
        for (const { name, path, seen, act } of LOOKS) {
          await page.goto(`${house.url}${path()}`);
          await page.locator(seen).first().waitFor({ state: 'attached' });
          await act?.(page);
          for (const one of await seriousIn(page)) found.push(`${name}: ${one}`);
        }
        expect(found).toEqual([]);
      });

  test('at the door, too', async () => {
    const page = await house.page('/settings', { expects: /401/ });
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await page.getByRole('heading', { name: 'Sign in to Onrecord' }).waitFor();
    expect(await seriousIn(page)).toEqual([]);
    // A button without a name would be found.
    await page.evaluate('document.body.append(document.createElement("button"))');
    expect(await seriousIn(page)).toHaveLength(1);
  });
});
