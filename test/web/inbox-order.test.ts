/** The list of the inbox while answers of the server come in another order than they were asked for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { Office } from './office.ts';
import { stopClock, WebHouse } from './window.ts';

/** How long changes are gathered before the page asks about them. */
const GATHER_MS = 100;

const office = new Office();
let house: WebHouse;
let jobs = 0;

beforeAll(async () => {
  house = await WebHouse.open({ agents: [office.agent] });
});

afterAll(() => house.end());

/** A session that waits for an answer about a note. */
const asked = async (text: string): Promise<string> => {
  const message = office.job(`n${++jobs}`, [{ tool: 'note.write', args: { file: 'HJ-204', text } }]);
  const client = await house.client();
  return (await client.createSession({ agent: 'office', message }, { waitSeconds: 20 })).session;
};

const listed = async (page: Page, session: string): Promise<number> => {
  // All at one moment: one after the other, a card that goes in between would be waited for.
  const links = await page
    .locator('a.queued')
    .evaluateAll((cards) => cards.map((one) => one.getAttribute('href') ?? ''));
  const wanted = `${session} 1.1.1`;
  return links.filter((link) => new URL(link, house.url).searchParams.get('sel') === wanted).length;
};

test('an older answer that comes late does not bring back a card that was answered meanwhile', async () => {
  const session = await asked('Looked at twice.');
  // A card that is being read stays: it is another one.
  const page = await house.page(`/inbox?sel=${encodeURIComponent(`${await asked('Being read.')} 1.1.1`)}`);
  await expect.poll(() => listed(page, session)).toBe(1);
  const late = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  let looks = 0;
  await page.route('**/inbox?session=*', async (route) => {
    const response = await route.fetch();
    const isFirst = ++looks === 1;
    if (isFirst) await late.promise;
    await route.fulfill({ response });
    if (isFirst) came.resolve();
  });
  // The page looks only when it is let: nothing that comes after the older answer puts it right again.
  await stopClock(page);
  const look = (): Promise<void> => page.clock.runFor(GATHER_MS);
  const client = await house.client();
  await client.setMode({ mode: 'read-only' }, session);
  await expect.poll(() => look().then(() => looks)).toBe(1);
  const [question] = await client.approvals(session);
  await client.decide(session, '1.1.1', {
    digest: question?.['digest'] as never,
    decision: { do: 'reject' },
  });
  await expect.poll(() => look().then(() => listed(page, session))).toBe(0);
  late.resolve();
  await came.promise;
  await page.evaluate("fetch('/me')");
  expect(await listed(page, session)).toBe(0);
});
