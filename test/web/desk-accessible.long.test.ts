/** What axe finds on the inbox, the bill and the suites in each theme and width, and that all of it is reached by keys. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { exampleAgents } from '../../examples/agents.ts';
import { MESSAGE } from '../../scripts/demo-folder.ts';
import { OWN_MODEL } from '../../src/cli/exam-files.ts';
import { seriousIn } from './axe.ts';
import { Office } from './office.ts';
import { WebHouse } from './window.ts';

const office = new Office();
const desks = mkdtempSync(join(tmpdir(), 'onrecord-desks-'));
let house: WebHouse;
let session = '';
let lost = '';

const deed = (seq: number, what: string) => ({
  seq,
  what,
  value: { tool: what, args: { to: 'a@b.example' }, end: 'ok' },
});

beforeAll(async () => {
  house = await WebHouse.open({ agents: [...exampleAgents(join(desks, 'desks')), office.agent] });
  const client = await house.client();
  ({ session } = await client.createSession(
    { agent: 'inbox-assistant', message: MESSAGE },
    { waitSeconds: 40 },
  ));
  const message = office.job('lost', [{ tool: 'note.lost', args: { file: 'HJ-1', text: 'Lost.' } }]);
  ({ session: lost } = await client.createSession({ agent: 'office', message }, { waitSeconds: 20 }));
  const run = { scenario: 'inbox/reply', repeat: 1, problems: [], steps: 3, cost: 0.02 };
  mkdirSync(house.reports, { recursive: true });
  writeFileSync(
    join(house.reports, 'everyday.json'),
    JSON.stringify({
      complete: true,
      ms: 18_400,
      seed: 7,
      runs: [
        {
          ...run,
          model: OWN_MODEL,
          verdict: 'passed',
          signature: { deeds: [deed(4, 'mail.read'), deed(9, 'mail.draft')] },
        },
        {
          ...run,
          model: 'acme-6',
          verdict: 'failed',
          problems: [{ expectation: 'never', message: 'mail.send was asked for' }],
          signature: { deeds: [deed(4, 'mail.read'), deed(9, 'mail.send')] },
        },
      ],
      differences: [
        {
          scenario: 'inbox/reply',
          models: [OWN_MODEL, 'acme-6'],
          divergence: {
            one: deed(9, 'mail.draft'),
            other: deed(9, 'mail.send'),
            path: '/tool',
            same: 1,
            area: 'model',
            cause: 'the model chose another tool',
          },
        },
      ],
    }),
  );
});

afterAll(async () => {
  await house.end();
  rmSync(desks, { recursive: true, force: true });
});

type Look = {
  readonly name: string;
  readonly path: () => string;
  readonly seen: string;
  readonly act?: (page: Page) => Promise<void>;
};

const sel = (of: string, call: string): string => encodeURIComponent(`${of} ${call}`);
const press = (name: RegExp) => (page: Page) => page.getByRole('button', { name }).click();

const LOOKS: readonly Look[] = [
  { name: 'a move', path: () => `/inbox?sel=${sel(session, '1.3.1')}`, seen: '.from-to' },
  { name: 'a draft', path: () => `/inbox?sel=${sel(session, '1.3.2')}`, seen: '.letter' },
  {
    name: 'an edit',
    path: () => `/inbox?sel=${sel(session, '1.3.2')}`,
    seen: '.letter',
    act: press(/^Edit/),
  },
  {
    name: 'a rejection',
    path: () => `/inbox?sel=${sel(session, '1.3.2')}`,
    seen: '.letter',
    act: press(/^Reject/),
  },
  {
    name: 'a grant',
    path: () => `/inbox?sel=${sel(session, '1.3.2')}`,
    seen: '.letter',
    act: press(/grant…/),
  },
  { name: 'a doubt', path: () => `/inbox?sel=${sel(lost, '1.1.1')}`, seen: '.answers' },
  {
    name: 'a doubt, answered',
    path: () => `/inbox?sel=${sel(lost, '1.1.1')}`,
    seen: '.answers',
    act: (page) => page.getByRole('radio', { name: /It happened/ }).check(),
  },
  { name: 'the list', path: () => '/inbox', seen: 'a.queued' },
  { name: 'the bill', path: () => '/spend', seen: '.models' },
  {
    name: 'the bill by session',
    path: () => '/spend?by=session&days=30',
    seen: '.models',
    act: (page) => page.locator('.as-table summary').click(),
  },
  { name: 'reports', path: () => '/suites', seen: '.stacked' },
  { name: 'a report', path: () => '/suites/everyday?scenario=inbox%2Freply', seen: '.side .differs' },
];

describe('axe finds nothing serious', () => {
  for (const theme of ['light', 'dark'] as const)
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ])
      test(`${theme}, ${viewport.width} wide`, async () => {
        const page = await house.page('/sessions', { theme, viewport });
        const shots = process.env['ONRECORD_SHOTS'];
        const found: string[] = [];
        for (const { name, path, seen, act } of LOOKS) {
          await page.goto(`${house.url}${path()}`);
          await page.locator(seen).first().waitFor({ state: 'attached' });
          await act?.(page);
          for (const one of await seriousIn(page)) found.push(`${name}: ${one}`);
          const file = `${name.replaceAll(/\W+/g, '-')}-${theme}-${viewport.width}.png`;
          if (shots !== undefined)
            await page.screenshot({ path: join(shots, file), fullPage: viewport.width < 800 });
          const sideways = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          expect([name, sideways]).toEqual([name, false]);
        }
        expect(found).toEqual([]);
      });
});
