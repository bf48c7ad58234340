import { createTwoFilesPatch } from 'diff';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cells } from '../../src/cli/terminal/cells.ts';
import { lookOf, render, type Look } from '../../src/cli/terminal/look.ts';
import { previewBlockLines, previewLines } from '../../src/cli/terminal/preview.ts';
import type { PreviewBlock } from '../../src/tool/preview.ts';
import { StageStream } from './terminal-stage.ts';

const lookAt = (columns: number, color: 'always' | 'never' = 'never'): Look => {
  const stream = new StageStream();
  stream.isTTY = true;
  stream.columns = columns;
  return lookOf(stream, { env: {}, color, ascii: false });
};
const shown = (block: PreviewBlock, look: Look = lookAt(80), known: readonly string[] = []): string[] =>
  previewBlockLines(block, { look, known }).map((one) => render(one, look));

const mail: PreviewBlock = {
  kind: 'mail',
  from: 'office@acme.example',
  to: ['office@haldenjoinery.example'],
  cc: [],
  bcc: [],
  replyTo: 'office@ha1denjoinery.example',
  subject: 'Site review moved to Friday 4 December',
  body: 'Good afternoon,\r\nthank you for letting us know.\r\n\r\nKind regards',
  attachments: [],
};

describe('a mail', () => {
  it('is shown as in the sample, with the address that looks like another', () => {
    expect(shown(mail)).toEqual([
      '  From      office@acme.example',
      '  To        office@haldenjoinery.example',
      '  Reply-To  office@ha1denjoinery.example',
      '            ▲ looks like haldenjoinery.example; character 3 is a digit one',
      '  Subject   Site review moved to Friday 4 December',
      '',
      '  Good afternoon,',
      '  thank you for letting us know.',
      '',
      '  Kind regards',
    ]);
  });

  it('names every recipient and attachment, and checks them against what the person knows', () => {
    const lines = shown(
      {
        ...mail,
        to: ['a@halden.example', 'b@hаlden.example'],
        bcc: ['c@xn--80ak6aa92e.com'],
        attachments: [{ name: 'plan\u202efdp.exe', bytes: 48_210 }],
      },
      lookAt(100),
      ['halden.example'],
    );
    expect(lines).toContain('  To        a@halden.example');
    expect(lines).toContain('            b@hаlden.example');
    expect(lines).toContain(
      '            ▲ looks like halden.example; character 2 is U+0430, a Cyrillic letter',
    );
    expect(lines).toContain('            ▲ xn--80ak6aa92e.com reads аррӏе.com');
    expect(lines).toContain('  Attached  plan<U+202E>fdp.exe, 48 kB');
    expect(lines.at(-1)).toBe('  ▲ 1 hidden character made visible: U+202E right-to-left override');
  });
});

describe('a diff', () => {
  const patch = [
    '--- rules/vat.md',
    '+++ rules/vat.md',
    '@@ -12,2 +12,3 @@',
    ' ',
    '-- Brandl Metall: 10 % (reduced)',
    '+- Brandl Metall: 20 % (standard since 2026-07)',
    '+- Source: letter of 2026-06-30, scans/brandl-0630.pdf',
    '',
  ].join('\n');
  const block: PreviewBlock = {
    kind: 'diff',
    path: 'rules/vat.md',
    patch,
    added: 2,
    removed: 1,
    newFile: false,
  };

  it('is shown as in the sample', () => {
    expect(shown(block)).toEqual([
      '  rules/vat.md',
      '   12    │ ',
      '   13  - │ - Brandl Metall: 10 % (reduced)',
      '   13  + │ - Brandl Metall: 20 % (standard since 2026-07)',
      '   14  + │ - Source: letter of 2026-06-30, scans/brandl-0630.pdf',
    ]);
  });

  it('colours what goes and what comes, and the sign stays without colour', () => {
    const [, , removed, added] = shown(block, lookAt(80, 'always'));
    expect(removed).toContain('\u001b[31m-\u001b[0m');
    expect(removed).toContain('\u001b[31m- Brandl Metall: 10 % (reduced)\u001b[0m');
    expect(added).toContain('\u001b[32m+\u001b[0m');
  });

  it('counts equal lines between hunks, and says where a line feed is missing', () => {
    const old = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`).join('\n');
    const changed = old.replace('line 5\n', 'five\n').replace('line 50\n', 'fifty\n').concat('\n');
    const made = createTwoFilesPatch('a', 'b', old, changed, '', '', { context: 3 });
    const lines = shown({ kind: 'diff', path: 'a', patch: made, added: 2, removed: 2, newFile: false });
    expect(lines).toContain('    5  - │ line 5');
    expect(lines).toContain('    5  + │ five');
    expect(lines).toContain('    … 38 equal lines');
    expect(lines).toContain('   50  + │ fifty');
    expect(lines).toContain('         no line feed at the end');
  });

  it('cuts nothing: a long line goes on below itself, behind the margin', () => {
    const made = createTwoFilesPatch('a', 'b', '', `${'x'.repeat(200)} rm -rf ~\n`, '', '');
    const lines = shown({ kind: 'diff', path: 'a', patch: made, added: 1, removed: 0, newFile: true });
    expect(lines[0]).toBe('  a  new file, 1 line');
    expect(
      lines
        .slice(1)
        .map((one) => one.slice(11))
        .join(''),
    ).toBe(`${'x'.repeat(200)} rm -rf ~`);
    for (const one of lines.slice(1)) expect(one).toMatch(/^.{9}│ /);
  });

  it('shows tabs, carriage returns and spaces at the end', () => {
    const made = createTwoFilesPatch('a', 'b', 'x\n', '\tx\r\n', '', '', { stripTrailingCr: false });
    const lines = shown({ kind: 'diff', path: 'a', patch: made, added: 1, removed: 1, newFile: false });
    expect(lines).toContain('    1  + │ ␉   x␍');
  });

  it('shows every line of any patch, and a broken one as it is', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '--- x', '+++ y', '@@ -1 +1 @@', '\\ no', '', ' z'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(texts, texts, (old, changed) => {
        const made = createTwoFilesPatch('p', 'p', old.join('\n'), changed.join('\n'), '', '', {
          context: 3,
        });
        if (!made.includes('@@')) return;
        const lines = shown({ kind: 'diff', path: 'p', patch: made, added: 0, removed: 0, newFile: false });
        const signs = (sign: string): number =>
          lines.filter((one) => one.slice(7, 10) === `${sign} │`).length;
        const body = made.split('\n').slice(4);
        expect(lines.join('\n')).not.toContain('not a well-formed patch');
        expect(signs('+') + signs('-')).toBe(body.filter((one) => /^[+-]/.test(one)).length);
      }),
    );
    const broken = shown({ ...block, patch: patch.replace('12,3', '12,4') });
    expect(broken[1]).toBe('  ▲ not a well-formed patch, shown as it is');
    expect(broken).toContain('  │ +- Source: letter of 2026-06-30, scans/brandl-0630.pdf');
    for (const junk of [`junk\n${patch}`, patch.replace('\n \n', '\n \njunk\n')])
      expect(shown({ ...block, patch: junk })).toContain('  │ junk');
    const hiding = shown({ ...block, patch: `${patch}+one more line behind the hunk\n` });
    expect(hiding.join('\n')).toContain('one more line behind the hunk');
  });
});

describe('other blocks', () => {
  it('cells are a table with the columns of the sample', () => {
    const lines = shown({
      kind: 'cells',
      path: 'ledger-2026-10.csv',
      changes: [
        { row: 118, key: 'B-10442', column: 'vat_rate', before: '10', after: '20' },
        { row: 118, key: 'B-10442', column: 'vat', before: '124.00', after: '248.00' },
        { row: 131, key: 'B-10467', column: 'vat_rate', before: '10', after: '20' },
        { row: 132, column: 'vat', after: '17.30\nx' },
      ],
      newRows: 1,
      untouchedRows: 1918,
    });
    expect(lines).toEqual([
      '  ledger-2026-10.csv',
      '  1,918 other rows stay byte for byte the same, 1 new row',
      '',
      '  row  key       column     now       after',
      '  118  B-10442   vat_rate   10        20',
      '  118  B-10442   vat        124.00    248.00',
      '  131  B-10467   vat_rate   10        20',
      '  132            vat        new       17.30␊x',
    ]);
  });

  it('a calendar entry stands as now and after, beside each other where that fits', () => {
    const block: PreviewBlock = {
      kind: 'calendar',
      before: { title: 'Site review', when: 'Thu 3 Dec, 14:00 CET', where: 'Workshop' },
      after: { title: 'Site review', when: 'Fri 4 Dec, 10:00 CET' },
      conflicts: ['Dentist, 10:30'],
    };
    expect(shown(block)).toEqual([
      '         now                     after',
      '  Title  Site review             the same',
      '  When   Thu 3 Dec, 14:00 CET    Fri 4 Dec, 10:00 CET',
      '  Where  Workshop                none',
      '  ▲ conflict: Dentist, 10:30',
    ]);
    const long = { ...block, after: { title: 'Site review'.repeat(8), when: 'Fri' } };
    expect(shown(long).slice(0, 2)).toEqual(['  Now', '  Title  Site review']);
    expect(shown({ kind: 'calendar', after: { title: 'x', when: 'Fri' }, conflicts: [] })).toEqual([
      '  New entry',
      '  Title  x',
      '  When   Fri',
      '  No conflict found.',
    ]);
  });

  it('a request shows its whole URL with the host in bold, headers and body', () => {
    const block: PreviewBlock = {
      kind: 'http',
      method: 'POST',
      url: 'https://user@ha1den.example:8443/pay?x=1',
      headers: [['content-type', 'application/json']],
      body: '{\n  "a": 1\n}',
    };
    expect(shown(block, lookAt(80), ['halden.example'])).toEqual([
      '  POST https://user@ha1den.example:8443/pay?x=1',
      '  ▲ looks like halden.example; character 3 is a digit one',
      '  content-type  application/json',
      '',
      '  │ {',
      '  │   "a": 1',
      '  │ }',
    ]);
    expect(shown(block, lookAt(80, 'always'))[0]).toContain(
      'https://\u001b[1muser@ha1den.example:8443\u001b[0m/pay',
    );
  });

  it('fields and text show hidden characters in place, behind a margin, with a warning', () => {
    expect(
      shown({
        kind: 'fields',
        fields: [{ name: 'cmd', value: 'rm -rf ./data \u202e gnp.oedarap/\u200b', warning: 'deletes' }],
      }),
    ).toEqual([
      '  cmd  rm -rf ./data <U+202E> gnp.oedarap/<U+200B>',
      '       ▲ deletes',
      '  ▲ 2 hidden characters made visible: U+202E right-to-left override, U+200B zero',
      '    width space',
    ]);
    expect(shown({ kind: 'text', title: 'Note', text: 'a\n\u001b[2Kb' })).toEqual([
      '  Note',
      '  │ a',
      '  │ ␛[2Kb',
      '  ▲ 1 hidden character made visible: U+001B escape',
    ]);
  });

  it('a whole preview puts its warnings last', () => {
    const look = lookAt(80);
    const lines = previewLines(
      {
        title: 'x',
        blocks: [
          { kind: 'text', text: 'a' },
          { kind: 'text', text: 'b' },
        ],
        warnings: ['Overwrites 3 lines.'],
      },
      { look },
    );
    expect(lines.map((one) => one.plain)).toEqual(['  │ a', '', '  │ b', '', '  ▲ Overwrites 3 lines.']);
  });

  it('no line of text is wider than the terminal, whatever it says', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: 60, max: 100 }),
        (text, columns) => {
          const look = lookAt(columns);
          const blocks: PreviewBlock[] = [
            { kind: 'text', text },
            { kind: 'fields', fields: [{ name: 'n', value: text, warning: text }] },
            { ...mail, subject: text, body: text },
            {
              kind: 'http',
              method: 'GET',
              url: `https://a.example/${text}`,
              headers: [['h', text]],
              body: text,
            },
          ];
          for (const block of blocks)
            for (const one of previewBlockLines(block, { look }))
              expect(cells(one)).toBeLessThanOrEqual(columns);
        },
      ),
      { numRuns: 60 },
    );
  });
});
