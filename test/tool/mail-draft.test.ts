import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import PostalMime, { type Email } from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { mailFolder } from '../../src/tool/mail/folder.ts';
import { mailTools } from '../../src/tool/mail/tools.ts';
import { failure, MailWorld } from './mail-world.ts';

const letter = { to: ['team@corp.example'], subject: 'Hello', body: 'One line.\nAnother.' };
const parse = (bytes: Uint8Array): Promise<Email> => PostalMime.parse(bytes);

describe('what-was-written-is-what-another-program-reads', () => {
  test('names, subject and body beyond ASCII', async () => {
    await using world = await MailWorld.open();
    const mail = await parse(
      await world.save({
        to: ['Zoë Größe <zoe@corp.example>', '"Grüße, Köln" <koeln@corp.example>'],
        cc: '山田 <yamada@corp.example>',
        subject: 'Grüße aus Köln 🎉',
        body: 'Preis: 5 €\n\n山田さん',
      }),
    );
    expect(mail.subject).toBe('Grüße aus Köln 🎉');
    expect(mail.from).toEqual({ name: 'Jörg Büro', address: 'desk@corp.example' });
    expect(mail.to).toEqual([
      { name: 'Zoë Größe', address: 'zoe@corp.example' },
      { name: 'Grüße, Köln', address: 'koeln@corp.example' },
    ]);
    expect(mail.cc).toEqual([{ name: '山田', address: 'yamada@corp.example' }]);
    expect(mail.text?.trimEnd()).toBe('Preis: 5 €\n\n山田さん');
    expect(mail.date).toBe('2026-11-27T14:02:38.000Z');
  });

  test('every line of the file is ASCII and short enough, whatever the fields hold', async () => {
    await using world = await MailWorld.open();
    const long = 'ein sehr langer Betreff über Grüße '.repeat(13).trim();
    const bytes = await world.save({ ...letter, subject: long, body: `${'x'.repeat(5000)}\n.\nFrom here\n` });
    const lines = Buffer.from(bytes).toString('latin1').split('\r\n');
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(998);
      expect(line).toMatch(/^[\x20-\x7e\t]*$/);
    }
    const mail = await parse(bytes);
    expect(mail.subject).toBe(long);
    expect(mail.text?.trimEnd()).toBe(`${'x'.repeat(5000)}\n.\nFrom here`);
  });

  test('attachments come back byte for byte under their names', async () => {
    await using world = await MailWorld.open();
    const every = Uint8Array.from({ length: 512 }, (_, at) => at & 255);
    await writeFile(join(world.drafts, 'Übersicht 2026.pdf'), every);
    await writeFile(join(world.drafts, 'empty.txt'), '');
    await writeFile(join(world.drafts, 'inner.eml'), 'Subject: inner\n\nlone\nlines\n');
    const names = ['Übersicht 2026.pdf', 'empty.txt', 'inner.eml'];
    const mail = await parse(await world.save({ ...letter, attachments: names }));
    expect(mail.attachments.map((file) => file.filename)).toEqual(names);
    const [pdf, , inner] = mail.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer));
    expect(pdf?.equals(every)).toBe(true);
    expect(inner?.toString()).toBe('Subject: inner\n\nlone\nlines\n');
    expect((await world.block({ ...letter, attachments: names })).attachments[0]).toEqual({
      name: names[0],
      bytes: 512,
    });
  });

  test('hidden recipients stay in the draft and in the preview; an answer names what it answers', async () => {
    await using world = await MailWorld.open();
    const given = {
      ...letter,
      bcc: ['quiet@corp.example'],
      replyTo: 'Desk <desk@corp.example>',
      inReplyTo: '<a1@corp.example>',
      references: ['<a0@corp.example>', '<a1@corp.example>'],
    };
    const mail = await parse(await world.save(given));
    expect(mail.bcc).toEqual([{ name: '', address: 'quiet@corp.example' }]);
    expect(mail.replyTo).toEqual([{ name: 'Desk', address: 'desk@corp.example' }]);
    expect(mail.inReplyTo).toBe('<a1@corp.example>');
    expect(mail.references).toBe('<a0@corp.example> <a1@corp.example>');
    expect(await world.block(given)).toMatchObject({
      bcc: ['quiet@corp.example'],
      replyTo: 'Desk <desk@corp.example>',
    });
  });

  test('random subjects, names and bodies', async () => {
    await using world = await MailWorld.open();
    const clean = /^[^\p{C}\u2028\u2029]*$/u;
    const words = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => clean.test(text));
    const name = words.map((text) => text.replaceAll(/\s+/g, ' ').trim());
    const body = fc
      .array(
        fc.oneof(
          words,
          fc.string({ maxLength: 200 }).filter((text) => clean.test(text)),
        ),
      )
      .map((lines) => lines.join('\n'));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(name, name, body, async (subject, who, text) => {
        const to = `"${who.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}" <team@corp.example>`;
        const mail = await parse(await world.save({ to: [to], subject, body: text }, `key-${count++}`));
        expect(mail.subject ?? '').toBe(subject);
        expect(mail.to).toEqual([{ name: who, address: 'team@corp.example' }]);
        expect((mail.text ?? '').trimEnd()).toBe(text.trimEnd());
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});

describe('a-broken-header-is-refused-before-anyone-is-asked', () => {
  const breaks = ['\r\n', '\n', '\r', '\u0085', '\u2028', '\u2029', '\v', '\f'];
  const fields: readonly (readonly [string, (value: string) => object])[] = [
    ['subject', (value) => ({ ...letter, subject: value })],
    ['to', (value) => ({ ...letter, to: [`${value} <team@corp.example>`] })],
    ['to', (value) => ({ ...letter, to: [`team@corp.example${value}`] })],
    ['to', (value) => ({ ...letter, to: `"${value}" <team@corp.example>` })],
    ['cc', (value) => ({ ...letter, cc: [value] })],
    ['bcc', (value) => ({ ...letter, bcc: value })],
    ['replyTo', (value) => ({ ...letter, replyTo: value })],
    ['inReplyTo', (value) => ({ ...letter, inReplyTo: `<a@b${value}>` })],
    ['references', (value) => ({ ...letter, references: ['<a@b>', value] })],
    ['attachments', (value) => ({ ...letter, attachments: [value] })],
  ];
  test.each(
    fields.flatMap(([field, make]) =>
      breaks.map((sign) => [field, JSON.stringify(sign), make(`Hi${sign}Bcc: extra@evil.example`)] as const),
    ),
  )('%s with %s (FC-134)', async (field, _, given) => {
    await using world = await MailWorld.open();
    const asked = await failure(world.preview(given));
    expect(asked).toMatchObject({ code: 'header-has-line-break', happened: false, details: { field } });
    const base = { path: 'draft-x.eml', sha256: '0', date: '2026-11-27T14:02:38Z' };
    expect((await failure(world.execute(given, base))).code).toBe('header-has-line-break');
    expect(await world.files()).toEqual([]);
  });

  test.each([
    [{ ...letter, subject: 'a\0b' }, 'header-has-control-character'],
    [{ ...letter, subject: 'a\u001bb' }, 'header-has-control-character'],
    [{ ...letter, subject: '\ud800' }, 'text-not-well-formed'],
    [{ ...letter, body: '\ud800' }, 'text-not-well-formed'],
    [{ ...letter, body: 'a\0b' }, 'text-not-well-formed'],
    [{ ...letter, to: [] }, 'recipient-missing'],
    [{ ...letter, subject: 'x'.repeat(501) }, 'subject-too-long'],
    [{ ...letter, inReplyTo: 'a1' }, 'message-id-invalid'],
    [{ ...letter, references: ['<a@b> <c@d>'] }, 'message-id-invalid'],
    [{ ...letter, attachments: ['../secret'] }, 'attachment-name-invalid'],
    [{ ...letter, attachments: ['/etc/passwd'] }, 'attachment-name-invalid'],
    [{ ...letter, attachments: ['a\\b'] }, 'attachment-name-invalid'],
    [{ ...letter, attachments: ['.hidden'] }, 'attachment-name-invalid'],
    [{ ...letter, attachments: ['absent.txt'] }, 'attachment-not-found'],
  ])('%j: %s', async (given, code) => {
    await using world = await MailWorld.open();
    expect((await failure(world.preview(given))).code).toBe(code);
  });

  test.each([
    'team',
    '@corp.example',
    'a@',
    'a@corp..example',
    'a b@corp.example',
    'a@corp.example, b@corp.example',
    'A, B <a@corp.example>',
    'A <a@corp.example> <b@corp.example>',
    'a@corp.example <b@corp.example> x',
    'list: a@corp.example;',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    '.a@corp.example',
    'a..b@corp.example',
    '"a b"@corp.example',
    'ä@corp.example',
    `${'a'.repeat(65)}@corp.example`,
    `a@${'b'.repeat(64)}.example`,
    '',
  ])('the address %j', async (to) => {
    await using world = await MailWorld.open();
    expect(await failure(world.preview({ ...letter, to: [to] }))).toMatchObject({
      code: 'address-invalid',
      details: { field: 'to' },
    });
  });

  test('a link among the attachments is not followed', async () => {
    await using world = await MailWorld.open();
    await writeFile(join(world.inbox, 'secret.txt'), 'secret');
    await symlink(join(world.inbox, 'secret.txt'), join(world.drafts, 'link.txt'));
    expect((await failure(world.preview({ ...letter, attachments: ['link.txt'] }))).code).toBe(
      'attachment-not-found',
    );
  });

  test('line breaks of a body are content', async () => {
    await using world = await MailWorld.open();
    const mail = await parse(await world.save({ ...letter, body: 'a\r\nBcc: extra@evil.example\rb\n\nc' }));
    expect(mail.bcc).toBeUndefined();
    expect(mail.text?.trimEnd()).toBe('a\nBcc: extra@evil.example\nb\n\nc');
  });
});

describe('no-draft-twice', () => {
  test('a crash between the file and the record: reconcile finds it, a second execution writes nothing new', async () => {
    await using world = await MailWorld.open();
    const { base } = await world.preview(letter);
    expect(await world.reconcile(letter, base)).toEqual({ happened: false });
    const first = await world.execute(letter, base);
    // The process is lost here; hours later another one looks.
    world.now += 5 * 3_600_000;
    expect(await world.reconcile(letter, base)).toEqual({ happened: true, result: first });
    expect(await world.execute(letter, base)).toEqual(first);
    expect(await world.files()).toEqual([first['path']]);
    expect(first['path']).toMatch(/^draft-2026-11-27-[0-9a-f]{16}\.eml$/);
  });

  test('the same key and base give the same bytes on another machine, another key gives another file', async () => {
    await using one = await MailWorld.open();
    await using other = await MailWorld.open();
    other.now += 86_400_000;
    const { base } = await one.preview(letter);
    const [a, b] = [await one.execute(letter, base), await other.execute(letter, base)];
    expect(a).toEqual(b);
    const c = await one.save(letter, 'k2');
    expect(await one.files()).toHaveLength(2);
    const mail = await parse(c);
    expect(mail.messageId).toMatch(/^<[0-9a-f]{32}@corp\.example>$/);
    expect(mail.messageId).not.toBe(a['messageId']);
  });

  test('a half-written attempt is not a draft and does not stand in the way', async () => {
    await using world = await MailWorld.open();
    const { base, target } = await world.preview(letter);
    await writeFile(join(world.drafts, `.${target ?? ''}.part`), 'half');
    expect(await world.reconcile(letter, base)).toEqual({ happened: false });
    await world.execute(letter, base);
    expect(await world.files()).toEqual([target]);
  });

  test('another file of that name is left as it is, and nobody guesses', async () => {
    await using world = await MailWorld.open();
    const { base, target = '' } = await world.preview(letter);
    await writeFile(join(world.drafts, target), 'someone else');
    expect(await world.reconcile(letter, base)).toMatchObject({ happened: 'unknown' });
    expect((await failure(world.execute(letter, base))).code).toBe('draft-exists');
    expect((await mailFolder(world.drafts).read(target, 100))?.bytes.toString()).toBe('someone else');
  });

  test('a link of that name is neither followed nor taken for the draft', async () => {
    await using world = await MailWorld.open();
    const { base, target = '' } = await world.preview(letter);
    await symlink(join(world.inbox, 'elsewhere.eml'), join(world.drafts, target));
    expect(await world.reconcile(letter, base)).toMatchObject({ happened: 'unknown' });
    expect((await failure(world.execute(letter, base))).code).toBe('draft-exists');
    expect(await world.read('mail.list', {})).toMatchObject({ total: 0 });
  });

  test('what was not previewed is not written', async () => {
    await using world = await MailWorld.open();
    await writeFile(join(world.drafts, 'a.txt'), 'one');
    const given = { ...letter, attachments: ['a.txt'] };
    const { base } = await world.preview(given);
    await writeFile(join(world.drafts, 'a.txt'), 'two');
    expect((await failure(world.execute(given, base))).code).toBe('draft-changed');
    expect((await failure(world.execute({ ...letter, body: 'other' }, base))).code).toBe('draft-changed');
    expect((await failure(world.execute(given, undefined))).code).toBe('base-missing');
    expect(await world.files()).toEqual(['a.txt']);
    expect(await world.reconcile(given, { path: '../x.eml', sha256: '', date: '' })).toMatchObject({
      happened: 'unknown',
    });
  });
});

describe('a-person-is-told-what-is-odd', () => {
  const contacts = ['office@haldenjoinery.example', 'steiner-glas.example', 'corner.example'];
  test.each([
    ['office@ha1denjoinery.example', 'reads like the known "haldenjoinery.example"'],
    ['office@haldenjoinery.com', 'under another ending'],
    ['office@haldenjoinery.example.evil.com', 'holds the known'],
    ['office@haldenjoinnery.example', 'reads like'],
    ['office@hladenjoinery.example', 'reads like'],
    ['office@comer.example', 'reads like the known "corner.example"'],
    ['office@steinerglas.example', 'reads like the known "steiner-glas.example"'],
    ['office@hаldenjoinery.example', 'mixes Latin and Cyrillic letters'],
    ['office@xn--grn-hoa.example', 'is shown as "gürn.example"'],
    ['office@corp.exarnple', 'reads like the known "corp.example"'],
    ['"office@haldenjoinery.example" <x@evil.example>', 'shows another address than x@evil.example'],
  ])('%s', async (to, warning) => {
    await using world = await MailWorld.open({ contacts });
    const { warnings = [] } = await world.preview({ ...letter, to: [to] });
    expect(warnings.join('\n')).toContain(warning);
  });

  test.each([
    'office@haldenjoinery.example',
    'a@mail.haldenjoinery.example',
    'b@other.example',
    '"Zoë" <z@corp.example>',
  ])('%s is nothing to notice', async (to) => {
    await using world = await MailWorld.open({ contacts });
    expect((await world.preview({ ...letter, to: [to] })).warnings).toEqual([]);
  });

  test('answers that go elsewhere, hidden characters, programs among the attachments', async () => {
    await using world = await MailWorld.open({ contacts });
    await writeFile(join(world.drafts, 'offer.pdf.exe'), 'x');
    const { warnings = [], title } = await world.preview({
      ...letter,
      replyTo: 'x@other.example',
      subject: 'invoice\u202efdp',
      body: 'zero\u200bwidth',
      attachments: ['offer.pdf.exe'],
    });
    expect(title).toBe('Save a mail draft. Nothing is sent.');
    expect(warnings).toHaveLength(4);
    expect(warnings[0]).toContain('Answers go to x@other.example');
  });
});

test('the-tools-declare-what-they-are', async () => {
  await using world = await MailWorld.open();
  expect(
    world.tools.map(({ name, effect, labels }) => [name, effect, labels.untrusted, labels.private]),
  ).toEqual([
    ['mail.list', 'none', true, true],
    ['mail.read', 'none', true, true],
    ['mail.search', 'none', true, true],
    ['mail.draft', 'reconcilable', false, false],
  ]);
  const from = { name: 'x\ny', address: 'a@corp.example' };
  expect(() => mailTools({ drafts: world.drafts, inbox: world.inbox, from })).toThrow(
    expect.objectContaining({ code: 'tool-invalid' }),
  );
});
