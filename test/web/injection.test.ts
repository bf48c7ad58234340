/**
 * Markup and script in every field that somebody else fills: mail, web page, result, error, file name, title of a
 * session, name of a tool, reason, description of a tool, report of a suite. On every page it has to stand as text.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ToolError, tool } from '../../src/tool/tool.ts';
import { Office } from './office.ts';
import { WebHouse } from './window.ts';

/** Each field has its own number, so that the page that shows it can be held to it. */
const FIELDS = [
  'title',
  'mail',
  'page',
  'result',
  'error',
  'file',
  'argument',
  'reason',
  'description',
  'preview',
  'warning',
  'rejected',
  'doubt',
  'report',
] as const;
type Field = (typeof FIELDS)[number];

const attack = (field: Field): string =>
  `<img src=x onerror="window.broken='${field}'"><script>window.broken='${field}'</script><svg/onload=alert(1)>[x](javascript:alert(1)) {{${field}}}`;

const HOSTILE = [
  tool<{ readonly path: string }>({
    name: 'web.get',
    description: attack('description'),
    effect: 'none',
    labels: { untrusted: true },
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', description: attack('description') } },
    },
    execute: () => ({ body: attack('page'), [attack('file')]: attack('result') }),
  }),
  tool({
    name: 'web.fail',
    description: 'Fails.',
    effect: 'none',
    inputSchema: { type: 'object' },
    execute: () => {
      throw new ToolError(attack('error'), { code: 'odd' });
    },
  }),
  tool<{ readonly path: string }>({
    name: 'file.change',
    description: attack('description'),
    effect: 'once',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    preview: ({ path }) => ({
      title: `Change ${attack('preview')}`,
      target: path,
      warnings: [attack('warning')],
      blocks: [
        {
          kind: 'diff',
          path,
          patch: `--- a\n+++ b\n@@ -1 +1 @@\n-${attack('preview')}\n+${path}\n`,
          added: 1,
          removed: 1,
          newFile: false,
        },
        { kind: 'text', title: attack('preview'), text: attack('preview') },
        {
          kind: 'fields',
          fields: [{ name: attack('preview'), value: attack('preview'), warning: attack('warning') }],
        },
        {
          kind: 'cells',
          path,
          keyName: attack('preview'),
          changes: [
            {
              row: 1,
              key: attack('preview'),
              column: attack('preview'),
              before: attack('preview'),
              after: path,
            },
          ],
          newRows: 0,
          untouchedRows: 1,
        },
        {
          kind: 'mail',
          from: attack('mail'),
          to: [attack('mail')],
          cc: [],
          bcc: [],
          subject: attack('mail'),
          body: attack('mail'),
          attachments: [{ name: attack('file'), bytes: 1 }],
        },
        {
          kind: 'calendar',
          before: { title: attack('preview'), when: 'now' },
          after: { title: path, when: 'then' },
          conflicts: [attack('warning')],
        },
        {
          kind: 'http',
          method: attack('preview'),
          url: `https://host.example/${attack('page')}`,
          headers: [['x', attack('preview')]],
          body: attack('page'),
        },
      ],
    }),
    execute: () => ({ ok: true }),
  }),
  tool({
    name: 'file.lost',
    description: 'Is lost.',
    effect: 'once',
    approval: 'never',
    inputSchema: { type: 'object' },
    preview: () => ({ title: `Lose ${attack('preview')}`, target: attack('file'), blocks: [] }),
    execute: () => {
      throw new Error(attack('doubt'));
    },
  }),
];

const office = new Office({
  tools: HOSTILE,
  policy: { rules: [{ id: 'asks', tools: ['file.change'], do: 'ask', reason: attack('reason') }] },
});
let house: WebHouse;
let session = '';
let lost = '';

beforeAll(async () => {
  house = await WebHouse.open({ agents: [office.agent] });
  const client = await house.client();
  const message = `${attack('title')} ${office.job(
    'hostile',
    [
      { tool: 'mail.read', args: { text: attack('mail') } },
      { tool: 'web.get', args: { path: attack('file') } },
      { tool: 'web.fail' },
    ],
    [
      { tool: 'file.change', args: { path: attack('argument') } },
      { tool: 'file.change', args: { path: attack('file') } },
    ],
  )}`;
  ({ session } = await client.createSession({ agent: 'office', message }, { waitSeconds: 20 }));
  ({ session: lost } = await client.createSession(
    { agent: 'office', message: office.job('lost', [{ tool: 'file.lost', args: {} }]) },
    { waitSeconds: 20 },
  ));
  const asked = await client.approvals(session);
  const second = asked.find(({ call }) => call === '1.2.2');
  await client.decide(session, '1.2.2', {
    digest: second?.['digest'] as never,
    decision: { do: 'reject', reason: attack('rejected') },
  });
  writeReport();
});

afterAll(() => house.end());

const writeReport = (): void => {
  const text = attack('report');
  const value = { tool: text, args: { [text]: text }, end: text, reason: text };
  const deeds = [{ kind: 'call', turn: 1, step: 1, seq: 4, what: text, value }];
  const run = {
    scenario: text,
    repeat: 1,
    verdict: 'failed',
    problems: [{ expectation: text, message: text }],
    signature: { deeds },
    steps: 1,
    calls: 1,
    events: 9,
    ms: 1,
  };
  const [one, other] = [
    { ...run, model: `${text} 1` },
    { ...run, model: `${text} 2` },
  ];
  const divergence = {
    one: deeds[0],
    other: deeds[0],
    path: text,
    same: 0,
    area: text,
    cause: text,
    definitions: [{ path: text, text }],
  };
  mkdirSync(house.reports, { recursive: true });
  writeFileSync(
    join(house.reports, 'hostile.json'),
    JSON.stringify({
      runs: [one, other],
      complete: true,
      ms: 1,
      differences: [{ scenario: text, models: [one.model, other.model], divergence }],
    }),
  );
};

type Place = {
  readonly path: () => string;
  /** Fields whose attack has to be read there, whole and as text. */
  readonly shows: readonly Field[];
  readonly open?: string;
  /** What is there once the page has its data, where no field is waited for. */
  readonly seen?: string;
};

const sel = (of: string, call: string): string => encodeURIComponent(`${of} ${call}`);

const PLACES: readonly Place[] = [
  { path: () => '/sessions', shows: ['title'] },
  { path: () => `/s/${session}`, shows: ['title'], open: '.show-result' },
  { path: () => `/s/${session}?view=rec`, shows: ['title'] },
  { path: () => `/s/${session}?view=req&req=2`, shows: [], seen: '.pane.req .part' },
  { path: () => `/s/${session}?view=req&req=2&tab=raw`, shows: [], seen: '.pane.req .bytes' },
  { path: () => `/s/${session}?view=work`, shows: [], seen: '.dock li' },
  { path: () => `/s/${lost}`, shows: [], seen: '.event .sentence:not(.unread)' },
  {
    path: () => `/inbox?sel=${sel(session, '1.2.1')}`,
    shows: ['reason', 'preview', 'warning', 'mail', 'file', 'page', 'argument'],
    open: 'details.exact summary',
  },
  { path: () => `/inbox?sel=${sel(lost, '1.1.1')}`, shows: ['doubt'] },
  { path: () => '/spend', shows: ['title'] },
  { path: () => '/spend?by=session', shows: ['title'] },
  { path: () => '/suites', shows: ['report'] },
  { path: () => `/suites/hostile?scenario=${encodeURIComponent(attack('report'))}`, shows: ['report'] },
];

test('stands as text on every page, and nothing of it is run, loaded or linked', async () => {
  const page = await house.page('/sessions');
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(house.url)) foreign.push(request.url());
  });
  for (const { path, shows, open, seen } of PLACES) {
    await page.goto(`${house.url}${path()}`);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    for (const field of shows)
      await page.getByText(`window.broken='${field}'`).first().waitFor({ state: 'attached' });
    for (const what of [seen, open])
      if (what !== undefined) await page.locator(what).first().waitFor({ state: 'attached' });
    if (open !== undefined) for (const one of await page.locator(open).all()) await one.click();
    // Titles are cut, so it is the beginning that has to stand there as it was written.
    const text = await page.locator('body').innerText();
    for (const field of shows)
      expect([path(), field, text.includes(`<img src=x onerror="window.broken='${field}'">`)]).toEqual([
        path(),
        field,
        true,
      ]);
    expect([path(), await page.evaluate('window.broken ?? null')]).toEqual([path(), null]);
    expect([
      path(),
      await page.locator('img, iframe, object, embed, a[href^="javascript"], [onerror], [onload]').count(),
    ]).toEqual([path(), 0]);
    expect([path(), await page.locator('body script').count()]).toEqual([path(), 0]);
  }
  expect(foreign).toEqual([]);
});
