/** One session in the window, against a real server: send, watch, steer, queue, cancel, fork, travel; and its breaks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { Porter } from './porter.ts';
import { stopClock, WebHouse } from './window.ts';

const porter = new Porter();
let house: WebHouse;

beforeAll(async () => {
  house = await WebHouse.open({ agents: [porter.agent] });
});

afterAll(() => house.end());

/** A session whose first turn is over. */
const begin = async (message = 'Look at door 1.'): Promise<string> => {
  porter.open();
  const client = await house.client();
  const { session } = await client.createSession({ agent: 'porter', message }, { waitSeconds: 20 });
  return session;
};

const record = (page: Page) => page.getByRole('listbox', { name: 'Events' });
const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const status = (page: Page, word: string) => page.locator('.session-head .pill', { hasText: word });

const field = (page: Page) => page.locator('#message');

/** Until it is accepted: then the field is empty, and ready for the next one. */
const send = async (page: Page, text: string): Promise<void> => {
  await field(page).fill(text);
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => field(page).inputValue()).toBe('');
};

describe('a session', () => {
  test('takes a message and shows what comes of it as it comes', async () => {
    const page = await house.page(`/s/${await begin()}`);
    await status(page, 'done').waitFor();
    porter.shut();
    await send(page, 'Look at door 2.');
    await conversation(page).getByText('Look at door 2.').waitFor();
    await conversation(page).getByText('I go down and look at the door myself.').last().waitFor();
    await status(page, 'running').waitFor();
    await page.getByRole('region', { name: 'Work still open' }).getByText('door.look').waitFor();
    porter.open();
    await conversation(page).getByText('Door 2 is locked.').waitFor();
    await status(page, 'done').waitFor();
    await record(page).getByRole('option').filter({ hasText: 'turn 2 done' }).waitFor();
    expect(await field(page).inputValue()).toBe('');
  });

  test('keeps what is written while a message is on its way', async () => {
    const page = await house.page(`/s/${await begin()}`);
    const isHeld = Promise.withResolvers<void>();
    const isLetGo = Promise.withResolvers<void>();
    await page.route('**/turns', async (route) => {
      isHeld.resolve();
      await isLetGo.promise;
      await route.continue();
    });
    await field(page).fill('Look at door 2.');
    await page.keyboard.press('Control+Enter');
    await isHeld.promise;
    await field(page).fill('And then at door 3.');
    isLetGo.resolve();
    await conversation(page).getByText('Door 2 is locked.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await field(page).inputValue()).toBe('And then at door 3.');
    // Sent as soon as the first one is accepted, and whole.
    await page.getByRole('button', { name: 'Send message' }).click();
    await conversation(page).getByText('Door 3 is locked.').waitFor();
    await conversation(page).getByText('And then at door 3.').waitFor();
  });

  test('takes a steering message and one for the queue while a turn runs; the turn can be cancelled', async () => {
    const page = await house.page(`/s/${await begin()}`);
    porter.shut();
    await send(page, 'Look at door 2.');
    const way = page.getByLabel('While a turn is open');
    await way.selectOption({ label: 'Steer: join at the next step' });
    await send(page, 'And knock.');
    await conversation(page).getByText('joined the turn').waitFor();
    await way.selectOption({ label: 'Queue after turn 2' });
    await send(page, 'Then door 3.');
    const work = page.getByRole('region', { name: 'Work still open' });
    await work.getByText('queued').waitFor();
    await page.getByRole('button', { name: 'Cancel turn 2…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel turn 2' });
    await dialog.getByLabel('Reason, for the record').fill('Not needed.');
    await dialog.getByRole('button', { name: 'Cancel turn 2' }).click();
    await conversation(page).getByText('Not needed.').waitFor();
    porter.open();
    await conversation(page).getByText('is locked.').nth(1).waitFor();
    await status(page, 'done').waitFor();
    await work.getByText('Work still open: none').waitFor();
    const cancelled = record(page).getByRole('option').filter({ hasText: 'turn 2 cancelled' });
    await cancelled.waitFor();
    expect(await cancelled.count()).toBe(1);
  });

  test('is forked at an event, and the fork says where it comes from', async () => {
    const session = await begin();
    const page = await house.page(`/s/${session}?at=6`);
    await page.getByRole('button', { name: 'Fork here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork at event 6' });
    await dialog.getByLabel('Title').fill('The other way');
    await dialog.getByRole('button', { name: 'Fork at 6' }).click();
    await page.getByRole('heading', { level: 1, name: 'The other way' }).waitFor();
    expect(page.url()).not.toContain(session);
    await page.getByText('forked from').getByRole('link', { name: session }).waitFor();
  });

  test('is shown as it was at any event, and nothing can be sent there', async () => {
    const page = await house.page(`/s/${await begin()}`);
    await record(page).getByRole('option').last().waitFor();
    const head = Number(await page.getByRole('slider').getAttribute('max'));
    await page.locator('body').press('[');
    await page.getByText(`as it was at ${head - 1}`).waitFor();
    await page.getByRole('slider').fill('4');
    await page.getByText('as it was at 4').waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toBe('4');
    await status(page, 'running').waitFor();
    await page.getByText(`${head - 4} later events not shown.`).waitFor();
    expect(await record(page).getByRole('option').count()).toBe(4);
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Cancel turn/ }).count()).toBe(0);
    // The address is the view: somebody else sees the same.
    const other = await house.page(new URL(page.url()).pathname + new URL(page.url()).search, {
      name: 'ben',
    });
    await other.getByText('as it was at 4').waitFor();
    await page.locator('body').press('Escape');
    await status(page, 'done').waitFor();
    await page.getByLabel('Message', { exact: true }).waitFor();
  });

  test('proves itself: replay is identical, the record verifies', async () => {
    const page = await house.page(`/s/${await begin()}`);
    await page.getByRole('button', { name: 'Prove…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Prove this record' });
    await dialog.getByRole('button', { name: 'Replay all events' }).click();
    await dialog.getByText('identical').waitFor();
    await dialog.getByRole('button', { name: 'Verify the record' }).click();
    await dialog.getByText('proves itself').waitFor();
    expect(await dialog.getByText('differs').count()).toBe(0);
  });

  test('has one selection in all readings, and the address holds it', async () => {
    const page = await house.page(`/s/${await begin()}`);
    const row = record(page).getByRole('option').filter({ hasText: 'asks for 1 call' });
    await row.click();
    await row.and(page.locator('[aria-selected="true"]')).waitFor();
    await page.waitForURL(/[?&]sel=\d/);
    const seq = new URL(page.url()).searchParams.get('sel') ?? '';
    await page.locator(`.entry.chosen [data-select="${seq}"]`).waitFor();
    await page.getByRole('heading', { name: 'Request 1' }).waitFor();
    await page.locator('.pane.req .seq').getByText('2', { exact: true }).click();
    await page.locator('#event-2[aria-selected="true"]').waitFor();
    await page.locator('.pane.req .part.chosen').waitFor();
    expect(new URL(page.url()).searchParams.get('sel')).toBe('2');
    await page.reload();
    await page.locator('#event-2[aria-selected="true"]').waitFor();
  });
});

describe('a break', () => {
  const broken = /Failed to load resource|net::ERR/;

  test('the server is restarted in the middle: the page says so, comes back, and the turn ends once', async () => {
    const page = await house.page(`/s/${await begin()}`, { expects: broken });
    await status(page, 'done').waitFor();
    porter.shut();
    await send(page, 'Look at door 2.');
    await status(page, 'running').waitFor();
    await page.getByRole('region', { name: 'Work still open' }).getByText('door.look').waitFor();
    // It would try again by itself; that the button does it is seen where the page has no time to.
    await stopClock(page);
    await house.stop();
    await page.getByText(/^Offline since/).waitFor();
    expect(await conversation(page).getByText('Look at door 2.').count()).toBe(1);
    porter.open();
    await house.start();
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.clock.resume();
    await conversation(page).getByText('Door 2 is locked.').waitFor();
    await status(page, 'done').waitFor();
    expect(await conversation(page).getByText('Look at door 2.').count()).toBe(1);
  });

  test('a stream that is cut goes on behind the last event that came: none is missing, none twice', async () => {
    const session = await begin();
    const page = await house.page(`/s/${session}`, { expects: broken });
    await status(page, 'done').waitFor();
    await stopClock(page);
    house.line.cut();
    const client = await house.client();
    await client.send(session, { message: 'Look at door 2.' }, { waitSeconds: 20 });
    await page.getByText(/^Offline since/).waitFor();
    house.line.mend();
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.clock.resume();
    await conversation(page).getByText('Door 2 is locked.').waitFor();
    const { head } = await client.session(session);
    await record(page).getByRole('option').last().waitFor();
    await expect.poll(() => page.getByRole('slider').getAttribute('max')).toBe(String(head));
    expect(await conversation(page).getByText('Look at door 2.').count()).toBe(1);
    const shown = await record(page)
      .getByRole('option')
      .evaluateAll((all) => all.map(({ id }) => id));
    expect(new Set(shown).size).toBe(shown.length);
  });
});
