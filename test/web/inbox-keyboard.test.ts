/** The inbox without a pointer: every answer that a person can give is given by keys alone, from a page just opened. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import type { EventView } from '../../src/server/schemas.ts';
import { Office } from './office.ts';
import { stopClock, WebHouse } from './window.ts';

const office = new Office();
let house: WebHouse;
let jobs = 0;

beforeAll(async () => {
  house = await WebHouse.open({ agents: [office.agent] });
});

afterAll(() => house.end());

/** A session that waits for an answer to one call, and its card with the hand on it, all by keys. */
const atCard = async (tool: string, text: string): Promise<{ session: string; page: Page }> => {
  const client = await house.client();
  const { session } = await client.createSession(
    { agent: 'office', message: office.job(`k${++jobs}`, [{ tool, args: { file: 'KB-1', text } }]) },
    { waitSeconds: 20 },
  );
  const page = await house.page('/inbox');
  const row = page.locator(`a.queued[href*="${session}"]`);
  await row.waitFor();
  await reach(page, page.locator('a.queued').first());
  for (let i = 0; i < ROWS_MAX && !(await isFocused(row)); i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('#card-title:focus').waitFor();
  await page.locator('article.card').getByText(text).first().waitFor();
  return { session, page };
};

/** How long the hand rests before the page asks what a settlement would lead to. */
const ASK_AFTER_MS = 200;
/** More than there are in any of these tests. */
const ROWS_MAX = 20;
const TABS_MAX = 60;

const isFocused = async (what: Locator): Promise<boolean> =>
  (await what.and(what.page().locator(':focus')).count()) === 1;

/** Tabs on until it has the focus. */
const reach = async (page: Page, what: Locator): Promise<void> => {
  for (let i = 0; i < TABS_MAX; i++) {
    if (await isFocused(what)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${TABS_MAX} tabs do not lead to ${what.toString()}`);
};

const button = (page: Page, name: RegExp | string): Locator =>
  page.locator('article.card').getByRole('button', { name });
const answered = (page: Page, words: string): Promise<void> =>
  page.locator('.queued.over').getByText(words).first().waitFor();
const ran = (text: string): number =>
  office.ran.filter(({ args }) => (args as { text: string }).text === text).length;
const last = async (session: string, type: string): Promise<EventView | undefined> => {
  let found: EventView | undefined;
  for await (const event of (await house.client()).events(session)) if (event.type === type) found = event;
  return found;
};

describe('by keys alone', () => {
  test('a call is rejected with a reason, after a look at the field and back', async () => {
    const { session, page } = await atCard('note.write', 'Not this one.');
    await page.keyboard.press('x');
    await page
      .getByRole('textbox', { name: /^Why not/ })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Escape');
    // Still in the card: the letters go on working.
    await button(page, /^Reject…/)
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('o');
    await page
      .getByRole('textbox', { name: /^Your answer/ })
      .and(page.locator(':focus'))
      .waitFor();
    await reach(page, button(page, 'Back'));
    await page.keyboard.press('Enter');
    await button(page, /^Answer instead…/)
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('x');
    await page.keyboard.type('Wrong file.');
    await page.keyboard.press('Control+Enter');
    await answered(page, 'Rejected by you');
    expect((await last(session, 'approval.decided'))?.data['decision']).toEqual({
      do: 'reject',
      reason: 'Wrong file.',
    });
    expect(ran('Not this one.')).toBe(0);
  });

  test('an answer is given in place of the tool', async () => {
    const { session, page } = await atCard('note.write', 'Known already.');
    await page.keyboard.press('o');
    await page.keyboard.type('It is there.');
    await reach(page, button(page, 'Give this answer'));
    await page.keyboard.press('Enter');
    await answered(page, 'Answered by you');
    expect((await last(session, 'approval.decided'))?.data['decision']).toEqual({
      do: 'respond',
      content: [{ type: 'text', text: 'It is there.' }],
    });
    expect(ran('Known already.')).toBe(0);
  });

  test('arguments are edited, the edit is undone, made again and approved', async () => {
    const { page } = await atCard('note.write', 'As the model says it.');
    await page.keyboard.press('e');
    const file = page.getByLabel('file', { exact: true });
    await file.and(page.locator(':focus')).waitFor();
    await reach(page, button(page, /^Undo my edit/));
    await page.keyboard.press('Enter');
    await button(page, /^Edit/).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('e');
    const text = page.getByLabel('text', { exact: true });
    await reach(page, text);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('As a person says it.');
    await page.locator('article.card').getByText('It fits the schema.').waitFor();
    await button(page, /^Approve my edit and/).waitFor();
    await reach(page, button(page, /^Approve my edit and/));
    await page.keyboard.press('Enter');
    await answered(page, 'Edited and approved by you');
    await expect.poll(() => ran('As a person says it.')).toBe(1);
    expect(ran('As the model says it.')).toBe(0);
  });

  test('leave is given for calls like it: one value let go, for less time', async () => {
    const { session, page } = await atCard('note.write', 'And others like it.');
    await button(page, /^Approve and write a note/).waitFor();
    await reach(page, button(page, 'Approve and grant…'));
    await page.keyboard.press('Enter');
    const [first, second] = [0, 1].map((at) => page.getByRole('checkbox').nth(at)) as [Locator, Locator];
    await first.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Approve and grant…').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await reach(page, second);
    await page.keyboard.press('Space');
    await page.getByText('/text may be anything').waitFor();
    await reach(page, page.getByRole('combobox'));
    await page.keyboard.press('ArrowUp');
    await reach(page, button(page, 'Approve and grant for 15 min'));
    await page.keyboard.press('Enter');
    await answered(page, 'Approved by you');
    const decided = await last(session, 'approval.decided');
    expect(decided?.data['decision']).toMatchObject({
      do: 'approve',
      grant: {
        forMs: 15 * 60 * 1000,
        when: [
          { at: '', only: ['file', 'text'] },
          { at: '/file', equals: 'KB-1' },
        ],
      },
    });
    await expect.poll(() => ran('And others like it.')).toBe(1);
  });

  test('a call in doubt is settled, and another one is given up', async () => {
    const happened = await atCard('note.lost', 'Came through?');
    await reach(happened.page, happened.page.getByRole('radio').first());
    await happened.page.keyboard.press('Space');
    await reach(happened.page, happened.page.getByLabel('Result, for the model'));
    // While the answer is recorded nothing more is asked about the call, however long that takes.
    await stopClock(happened.page);
    const heard = Promise.withResolvers<void>();
    await happened.page.route('**/settlement', async (route) => {
      const response = await route.fetch();
      await heard.promise;
      await route.fulfill({ response });
    });
    await happened.page.keyboard.type('It is on file KB-1.');
    await happened.page.keyboard.press('Control+Enter');
    await expect.poll(() => last(happened.session, 'call.settled')).toBeDefined();
    await happened.page.clock.runFor(ASK_AFTER_MS);
    heard.resolve();
    await answered(happened.page, 'Settled as “it happened” by you');
    expect((await last(happened.session, 'call.settled'))?.data).toMatchObject({
      settlement: { answer: 'happened', content: [{ type: 'text', text: 'It is on file KB-1.' }] },
    });
    const given = await atCard('note.lost', 'Nobody knows.');
    await reach(given.page, given.page.getByRole('radio').first());
    for (const key of ['Space', 'ArrowDown', 'ArrowDown']) await given.page.keyboard.press(key);
    await given.page.getByRole('radio', { name: /Give up/, checked: true }).waitFor();
    await reach(given.page, given.page.getByLabel(/^Note, for the record/));
    await given.page.keyboard.type('Nobody to ask.');
    await given.page.keyboard.press('Enter');
    await answered(given.page, 'Settled as “give up on it” by you');
    expect((await last(given.session, 'call.settled'))?.data).toMatchObject({
      settlement: { answer: 'give-up' },
      note: 'Nobody to ask.',
    });
    expect([ran('Came through?'), ran('Nobody knows.')]).toEqual([1, 1]);
  });
});
