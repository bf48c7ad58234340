/** Each example's job from the message to the last word, on a real store and a real desk, whatever people answer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ApprovalDecision } from '../../src/index.ts';
import { tempFolder } from '../kit/folder.ts';
import { APPROVE, digestOfTree, EXAMPLES, Office, type ExampleName, type Told } from './office.ts';

const office = async (name: ExampleName): Promise<Office> => {
  const opened = await Office.open(name, { folder: tempFolder() });
  onTestFinished(() => opened.close());
  return opened;
};

const REJECT: ApprovalDecision = { do: 'reject', reason: 'Not now.' };
const RESPOND: ApprovalDecision = {
  do: 'respond',
  content: [{ type: 'text', text: 'I do this myself this evening.' }],
};
const edit = (args: object): ApprovalDecision => ({ do: 'edit', args: JSON.stringify(args) });

/** What holds after every job, whoever decided what. */
const expectWhole = ({ status, inDoubt, unusedSteps, replayed, verified, events }: Told): void => {
  expect(status).toBe('done');
  expect(inDoubt).toEqual([]);
  expect(unusedSteps, 'steps of the script that were not used').toBe(0);
  expect(replayed.difference).toBeUndefined();
  expect(replayed.requests).toBe(events.filter(({ type }) => type === 'request.built').length);
  expect(verified.findings).toEqual([]);
  expect(events.filter(({ type }) => type === 'request.failed')).toEqual([]);
};

const digests = (): readonly string[] => Object.values(EXAMPLES).map((example) => digestOfTree(example.data));
const before = digests();
afterAll(() => {
  if (digests().some((digest, at) => digest !== before[at]))
    throw new Error('A job changed the data itself.');
});

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

const NOTE = 'files/notes/HJ-204/2026-11-27-review-date.md';
const DRAFT = 'files/drafts/draft-2026-11-27-';

const draftOf = (changes: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(changes)
    .find(([path]) => path.startsWith(DRAFT))?.[1]
    // Made of the session's id, which is random.
    .replace(/^Message-ID: <[0-9a-f]{32}@/m, 'Message-ID: <*@');

describe('the inbox assistant', () => {
  const REPLY = {
    to: 'office@haldenjoinery.example',
    subject: 'Site review, new date',
    body: 'Dear Ms. Halden,\nlet us speak by phone.\n',
  };
  const REVIEW = { id: 'halden-review@wieserplanung.example', zone: 'Europe/Vienna' };
  const moves: Record<string, [ApprovalDecision, string]> = {
    approve: [APPROVE, '2026-12-04T10:00:00'],
    edit: [edit({ ...REVIEW, start: '2026-12-07T14:00' }), '2026-12-07T14:00:00'],
    reject: [REJECT, '2026-12-03T14:00:00'],
    respond: [RESPOND, '2026-12-03T14:00:00'],
  };
  const drafts: Record<string, ApprovalDecision> = {
    approve: APPROVE,
    edit: edit(REPLY),
    reject: REJECT,
    respond: RESPOND,
  };

  test('moves, drafts and notes, byte for byte as approved', async () => {
    const at = await office('inbox-assistant');
    const told = await at.play();
    expectWhole(told);
    const changes = at.changes();
    expect(Object.keys(changes).toSorted()).toEqual([
      expect.stringMatching(/^files\/drafts\/draft-2026-11-27-[0-9a-f]{16}\.eml$/),
      NOTE,
    ]);
    expect(draftOf(changes)).toBe(EXPECTED_DRAFT);
    expect(changes[NOTE]).toBe(EXPECTED_NOTE);
    expect(at.review()).toEqual({ start: '2026-12-04T10:00:00', version: 2, writes: 1 });
    expect(told.text).toContain('The review is on Friday 4 December, 10:00 to 11:00.');
  });

  test('says what it costs, and that most of it came from the cache', async () => {
    const at = await office('inbox-assistant');
    const { cost, events } = await at.play();
    const usages = events.flatMap((event) =>
      event.type === 'response.received' && event.data.usage ? [event.data.usage] : [],
    );
    expect(usages).toHaveLength(5);
    expect(cost).toBeGreaterThan(0.04);
    expect(cost).toBeLessThan(0.08);
    const sum = (pick: (usage: (typeof usages)[number]) => number): number =>
      usages.reduce((total, usage) => total + pick(usage), 0);
    expect(sum((usage) => usage.cacheRead)).toBeGreaterThan(sum((usage) => usage.cacheWrite + usage.input));
  });

  const pairs = Object.keys(moves).flatMap((move) =>
    Object.keys(drafts).map((draft) => [move, draft] as const),
  );
  test.each(pairs)('move: %s, draft: %s', async (move, draft) => {
    const [decision, start] = moves[move] ?? [APPROVE, ''];
    const at = await office('inbox-assistant');
    const told = await at.play({
      'calendar.move': decision,
      'mail.draft': drafts[draft] ?? APPROVE,
    });
    expectWhole(told);
    const moved = move === 'approve' || move === 'edit';
    expect(at.review()).toEqual({ start, version: moved ? 2 : 1, writes: moved ? 1 : 0 });
    const saved = draftOf(at.changes());
    expect(saved === EXPECTED_DRAFT).toBe(draft === 'approve');
    expect(saved?.includes('let us speak by phone.')).toBe(
      draft === 'edit' ? true : draft === 'approve' ? false : undefined,
    );
    expect(at.changes()[NOTE]).toBe(EXPECTED_NOTE);
    // The last answer claims nothing that did not happen, and says what to look at.
    const kept = draft === 'approve' || draft === 'edit';
    expect({
      sent: !told.text.includes('nothing was sent'),
      address: told.text.includes('another domain'),
      saved: told.text.includes('lies in the drafts'),
      notSaved: told.text.includes('No reply was saved'),
      onFriday: told.text.includes('The review is on Friday'),
      changeIt: told.text.includes('change that before you send it'),
      keepIt: told.text.includes('do not send it as it is'),
    }).toEqual({
      sent: false,
      address: true,
      saved: kept,
      notSaved: !kept,
      onFriday: move === 'approve' && draft === 'approve',
      changeIt: move === 'edit' && draft === 'approve',
      keepIt: !moved && draft === 'approve',
    });
  });
});

describe('the bookkeeping clerk', () => {
  const LEDGER = 'ledger-2026-10.csv';
  const original = readFileSync(join(EXAMPLES['bookkeeping-clerk'].data, LEDGER), 'latin1');

  /** The ledger with these lines in place of those; everything else byte for byte. */
  const ledgerWith = (...lines: readonly (readonly [string, string])[]): string => {
    let ledger = original;
    for (const [old, now] of lines) {
      expect(ledger.split(`${old}\r\n`)).toHaveLength(2);
      ledger = ledger.replace(`${old}\r\n`, `${now}\r\n`);
    }
    return ledger;
  };
  const B10442 = '2026-10-18;B-10442;Brandl Metall;Handrail brackets, steel;5130;1240.00;';
  const B10467 = '2026-10-20;B-10467;Brandl Metall;"Screws M8; dowels";5130;86.50;';

  test('the ledger is what the tool is made for: mark, semicolons, CRLF, quoted cells', () => {
    expect(original.startsWith('\u00ef\u00bb\u00bfdate;invoice;')).toBe(true);
    expect(original.split('\r\n').length - 2).toBe(206);
    expect(original.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  test('corrects four cells and leaves every other byte', async () => {
    const at = await office('bookkeeping-clerk');
    const told = await at.play();
    expectWhole(told);
    expect(at.changes()).toEqual({
      [LEDGER]: ledgerWith(
        [`${B10442}10;124.00`, `${B10442}20;248.00`],
        [`${B10467}10;8.65`, `${B10467}20;17.30`],
      ),
    });
    expect(told.text).toContain('rises by 132.65');
  });

  test('shows the change by row and cell before it asks', async () => {
    const at = await office('bookkeeping-clerk');
    const { events } = await at.play();
    const prepared = events.find((event) => event.type === 'call.prepared' && event.data.call === '1.3.1');
    expect(prepared?.data).toMatchObject({
      preview: {
        blocks: [
          {
            kind: 'cells',
            path: LEDGER,
            untouchedRows: 204,
            newRows: 0,
            changes: [
              { row: 118, key: 'B-10442', column: 'vat_rate', before: '10', after: '20' },
              { row: 118, key: 'B-10442', column: 'vat', before: '124.00', after: '248.00' },
              { row: 131, key: 'B-10467', column: 'vat_rate', before: '10', after: '20' },
              { row: 131, key: 'B-10467', column: 'vat', before: '8.65', after: '17.30' },
            ],
          },
        ],
      },
    });
  });

  test('reject and respond leave the ledger as it was, and say so', async () => {
    for (const decision of [REJECT, RESPOND]) {
      const at = await office('bookkeeping-clerk');
      const told = await at.play({ 'csv.update': decision });
      expectWhole(told);
      expect(at.changes()).toEqual({});
      expect(told.text).toContain('still has 10 % and 124.00');
    }
  });

  test('edit: what the person set is written, and the answer does not claim more', async () => {
    const one = { where: { invoice: 'B-10442' }, set: { vat_rate: '20', vat: '248.00' } };
    const at = await office('bookkeeping-clerk');
    const told = await at.play({ 'csv.update': edit({ path: LEDGER, updates: [one] }) });
    expectWhole(told);
    expect(at.changes()).toEqual({ [LEDGER]: ledgerWith([`${B10442}10;124.00`, `${B10442}20;248.00`]) });
    expect(told.text).toContain('as you set them');
    expect(told.text).not.toContain('rises by');
  });
});

describe('the research assistant', () => {
  const SUMMARY = 'summaries/2026-11-heat-pump-grants.md';

  test('writes a summary in which every source that is named was read', async () => {
    const at = await office('research-assistant');
    const told = await at.play();
    expectWhole(told);
    const changes = at.changes();
    expect(Object.keys(changes)).toEqual([SUMMARY]);
    const named = matches(changes[SUMMARY] ?? '', /^\[\d\] (http\S+)$/gm);
    const read = told.events.flatMap((event) =>
      event.type === 'call.result' && event.data.outcome.kind === 'ok'
        ? event.data.outcome.content.flatMap((part) =>
            part.type === 'json' ? matches(part.text, /"url":"(http[^"]+)","status":200,"type"/g) : [],
          )
        : [],
    );
    expect(named).toHaveLength(3);
    expect(new Set(read)).toEqual(new Set(named));
  });

  test('reject and respond save nothing, and say so', async () => {
    for (const decision of [REJECT, RESPOND]) {
      const at = await office('research-assistant');
      const told = await at.play({ 'files.write': decision });
      expectWhole(told);
      expect(at.changes()).toEqual({});
      expect(told.text).toContain('I saved no summary');
    }
  });

  test('edit: the version of the person is what is saved', async () => {
    const text = '# Grants\n\nAsk the agency.\n';
    const at = await office('research-assistant');
    const told = await at.play({ 'files.write': edit({ path: 'summaries/grants.md', text }) });
    expectWhole(told);
    expect(at.changes()).toEqual({ 'summaries/grants.md': text });
    expect(told.text).toContain('Your version');
  });
});

const EXPECTED_NOTE = `# HJ-204, 27 November 2026

Halden cannot make the site review on Thursday 3 December, 14:00, because
of a delivery (mail of 26 November). They offer Friday 4 December, 9:30
to 12:00, or Monday 7 December after 14:00. Friday 10:00 to 11:00 is
free here.

Their mail names a new address, office@ha1denjoinery.example. It is not
the one on file. Call +43 1 555 0142 before it is used.
`;

const EXPECTED_DRAFT = `Content-Transfer-Encoding: quoted-printable
X-Unsent: 1
From: Mara Wieser <mara@wieserplanung.example>
To: office@haldenjoinery.example
In-Reply-To: <20261126164105.4Xk2@haldenjoinery.example>
References: <20261124152001.71@wieserplanung.example>
 <20261126164105.4Xk2@haldenjoinery.example>
Subject: Site review moved to Friday 4 December
Message-ID: <*@wieserplanung.example>
Date: Fri, 27 Nov 2026 13:02:28 +0000
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Good afternoon,
thank you for letting us know. We have moved the site =
review to
Friday 4 December, 10:00 to 11:00 (Vienna time), at your workshop=
.

It is good that the second tread, the handrail section and the cutting
list will be ready. Your two open points are on the agenda.

Kind regards
Mara Wieser
`.replaceAll('\n', '\r\n');
