/** The list of sessions: it follows the store, and stays where the reader looks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { Porter } from './porter.ts';
import { WebHouse } from './window.ts';

const porter = new Porter();
let house: WebHouse;

beforeAll(async () => {
  house = await WebHouse.open({ agents: [porter.agent] });
});

afterAll(() => house.end());

const titles = (page: Page) => page.locator('.sessions .title a').allTextContents();

const begin = async (message: string): Promise<string> => {
  const client = await house.client();
  return (await client.createSession({ agent: 'porter', message }, { waitSeconds: 20 })).session;
};

/** Answers to this address are taken from the server when they are asked for, and come when they are let. */
const heldBack = async (
  page: Page,
  address: RegExp,
): Promise<{ readonly asked: Promise<void>; let(): Promise<void> }> => {
  const [asked, late, came] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate];
  await page.route(address, async (route) => {
    const response = await route.fetch();
    asked.resolve();
    await late.promise;
    await route.fulfill({ response });
    came.resolve();
  });
  return {
    asked: asked.promise,
    let: async () => {
      late.resolve();
      await came.promise;
      // One more answer, behind which the page has taken that one.
      await page.evaluate("fetch('/me')");
    },
  };
};

type Gate = PromiseWithResolvers<void>;

test('a new session is counted and shown when the reader wants it; a row changes where it is', async () => {
  const first = await begin('Look at the cellar door.');
  const page = await house.page();
  await page.getByRole('link', { name: 'Look at the cellar door.' }).waitFor();
  await begin('Look at the garden door.');
  await page.getByRole('button', { name: /1 session has moved up/ }).waitFor();
  expect(await titles(page)).toEqual(['Look at the cellar door.']);
  await page.locator('body').press('r');
  await page.getByRole('link', { name: 'Look at the garden door.' }).waitFor();
  expect(await titles(page)).toEqual(['Look at the garden door.', 'Look at the cellar door.']);
  porter.shut();
  const client = await house.client();
  await client.send(first, { message: 'Once more.' });
  const row = page.getByRole('row').filter({ hasText: 'cellar' });
  await row.getByText('running').waitFor();
  expect(await titles(page)).toEqual(['Look at the garden door.', 'Look at the cellar door.']);
  porter.open();
  await row.getByText('done').waitFor();
});

test('is searched and filtered by the server, and the address holds what was asked for', async () => {
  await begin('Look at the attic door.');
  const page = await house.page('/sessions');
  await page.getByRole('searchbox').fill('ATTIC look');
  await expect.poll(() => titles(page)).toEqual(['Look at the attic door.']);
  expect(new URL(page.url()).searchParams.get('q')).toBe('ATTIC look');
  await page.reload();
  await expect.poll(() => titles(page)).toEqual(['Look at the attic door.']);
  await page.getByRole('button', { name: /^Failed/ }).click();
  await page.getByRole('heading', { name: 'No session fits' }).waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect.poll(async () => (await titles(page)).length).toBeGreaterThan(0);
  expect(await page.getByRole('searchbox').inputValue()).toBe('');
});

test('the answer to an earlier search that comes late does not take the place of a later one', async () => {
  await begin('Look at the tower door.');
  await begin('Look at the bridge door.');
  const page = await house.page('/sessions');
  const tower = await heldBack(page, /[?]limit=.*q=tower/);
  await page.getByRole('searchbox').fill('tower');
  await tower.asked;
  await page.getByRole('searchbox').fill('bridge');
  await expect.poll(() => titles(page)).toEqual(['Look at the bridge door.']);
  await tower.let();
  expect(await titles(page)).toEqual(['Look at the bridge door.']);
});

test('an answer that was under way while a session went on does not bring its old row back', async () => {
  const session = await begin('Look at the mill door.');
  const page = await house.page('/sessions?q=mill');
  const row = page.getByRole('row').filter({ hasText: 'mill door' });
  await row.getByText('done').waitFor();
  const list = await heldBack(page, /[?]limit=.*q=mill/);
  await page.locator('body').press('r');
  await list.asked;
  porter.shut();
  try {
    const client = await house.client();
    await client.send(session, { message: 'Once more.' });
    await row.getByText('running').waitFor();
    await list.let();
    expect(await row.getByText('running').count()).toBe(1);
  } finally {
    porter.open();
  }
  await row.getByText('done').waitFor();
});

test('a session is begun from here, once', async () => {
  const page = await house.page('/sessions');
  await page.locator('.sessions .title a').first().waitFor();
  await page.locator('body').press('n');
  const dialog = page.getByRole('dialog', { name: 'New session' });
  await dialog.getByLabel('Message').fill('Look at the front door.');
  // Which agents there are is asked of the server; until it has said so nothing can be started.
  await expect.poll(() => dialog.getByLabel('Agent').inputValue()).toBe('porter');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { level: 1, name: 'Look at the front door.' }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/s\/s_/);
});
