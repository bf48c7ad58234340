/** The window as such: who gets in, what a browser is told, where one can go, and by which keys. */
import { expect, test } from 'vitest';
import { openHouse } from './window.ts';

test('the printed address signs one browser in, once; a token does, too', async () => {
  const house = await openHouse();
  const first = await house.page();
  expect(new URL(first.url()).pathname).toBe('/sessions');
  expect(await first.getByRole('heading', { level: 1 }).textContent()).toBe('Sessions');
  const ticket = house.door.app.tickets.issue(await house.token('ben'));
  const address = `${house.url}/sign-in#${ticket}`;
  const second = await first.context().browser()?.newContext();
  const page = await second?.newPage();
  if (!second || !page) throw new Error('no second browser');
  await page.goto(address);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  // Again in a browser that is in already: nothing to complain about.
  await page.goto('about:blank');
  await page.goto(address);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await second.clearCookies();
  await page.goto('about:blank');
  await page.goto(address);
  await page.getByRole('heading', { name: 'Sign in to Onrecord' }).waitFor();
  await page.getByText('ticket-used').waitFor();
  expect(page.url()).not.toContain(ticket);
  await page.getByLabel('Token').fill(await house.token('ben'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await second.close();
});
