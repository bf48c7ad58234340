/** Whether a keyboard alone is enough on the pages of sessions. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MESSAGE } from '../../scripts/demo-folder.ts';
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

describe('the keyboard alone', () => {
  test('finds a session, reads it, sends, travels and forks', async () => {
    const page = await house.page('/settings');
    const { keyboard } = page;
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    // The second follows at once: after a while it would be a key of its own.
    await Promise.all([keyboard.press('g'), keyboard.press('s')]);
    await page.locator('.sessions .title a').first().waitFor();
    await keyboard.press('j');
    await keyboard.press('Enter');
    await page.locator('.event .sentence:not(.unread)').first().waitFor();
    await keyboard.press('2');
    await page.locator('.rec .scroll:focus').waitFor();
    await keyboard.press('Home');
    await page.locator('#event-1[aria-selected="true"]').waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('j');
    await page.locator('#event-3[aria-selected="true"]').waitFor();
    await keyboard.press('d');
    await page.getByRole('tab', { name: 'Diff', selected: true }).waitFor();
    await keyboard.press('[');
    await page.locator('.past').waitFor();
    await keyboard.press('Escape');
    await page.locator('.past').waitFor({ state: 'detached' });
    await keyboard.press('f');
    await page.getByRole('dialog', { name: /^Fork at event/ }).waitFor();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await keyboard.press('/');
    await keyboard.type('calendar');
    await page
      .getByText(/^\d+ events$/)
      .last()
      .waitFor();
    await keyboard.press('Control+k');
    await keyboard.type('theme: dark');
    await keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  });

  test('is heard from the moment on that the page shows what it acts on', async () => {
    const page = await house.page('/settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await page.evaluate(PRESSED_AT_ONCE)).toMatch(/^row-s_/);
  });

  test('shows where it is on each page', async () => {
    const page = await house.page(`/s/${session}`);
    await page.locator('.event .sentence:not(.unread)').first().waitFor();
    for (const path of ['/sessions', '/settings', `/s/${session}`, '/inbox']) {
      await page.goto(`${house.url}${path}`);
      await page.locator('h1').waitFor();
      if (path === '/inbox') await page.locator('#card-title').waitFor();
      const bare: string[] = [];
      for (let i = 0; i < TABS; i++) {
        await page.keyboard.press('Tab');
        const seen = await page.evaluate<{ readonly what: string; readonly ring: boolean }>(RING);
        if (!seen.ring) bare.push(`${path} ${seen.what}`);
      }
      expect(bare).toEqual([]);
    }
  });

  test('letters do nothing in a field, and nothing at all where they are switched off', async () => {
    const page = await house.page('/sessions');
    await page.locator('.sessions .title a').first().waitFor();
    await page.getByRole('searchbox').fill('');
    await page.keyboard.type('n gi?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto(`${house.url}/settings`);
    await page.getByRole('checkbox').uncheck();
    await page.locator('body').press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('checkbox').check();
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  });
});

/** In the page: goes to the sessions and presses j in the very task that shows them. What has the focus then? */
const PRESSED_AT_ONCE = `new Promise((resolve) => {
  const seen = new MutationObserver(() => {
    if (!document.querySelector('.sessions .title a')) return;
    seen.disconnect();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }));
    resolve(document.activeElement.id);
  });
  seen.observe(document.body, { childList: true, subtree: true });
  document.querySelector('header a[href="/sessions"]').click();
})`;

/** Presses of the tabulator on each page. */
const TABS = 24;

/** In the page: what has the focus, and whether a ring is drawn around it. */
const RING = `(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const native = element.matches('body, input[type=range], input[type=checkbox]');
  return { what: element.outerHTML.slice(0, 120), ring: native || (outlineStyle !== 'none' && outlineWidth !== '0px') };
})()`;
