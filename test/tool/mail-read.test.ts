import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDate } from '../../src/tool/mail/date.ts';
import { isPlainName } from '../../src/tool/mail/folder.ts';
import { cleanName, parseMail } from '../../src/tool/mail/parse.ts';
import type { MailPage, MailRead } from '../../src/tool/mail/reader.ts';
import { failure, MailWorld } from './mail-world.ts';

const ORDINARY = `From: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <shop@corp.example>
To: desk@corp.example
Subject: =?utf-8?B?R3LDvMOfZSBhdXMgS8O2bG4=?=
Date: Sun, 29 Mar 2026 03:15:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="m"

--m
Content-Type: multipart/alternative; boundary="a"

--a
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Preis: 5 =E2=82=AC
--a
Content-Type: text/html; charset=utf-8

<p>Preis: <b>5 &euro;</b></p>
--a--
--m
Content-Type: application/pdf; name="../../etc/x.pdf"
Content-Disposition: attachment; filename="../../etc/x.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--m--
`;

const mail = (headers: string, body = 'text'): string =>
  `${headers}\nContent-Type: text/plain; charset=utf-8\n\n${body}\n`;

describe('a-message-is-read-as-a-person-would', () => {
  test('encoded headers, alternative parts, an attachment named ../../x (FC-136)', async () => {
    await using world = await MailWorld.open();
    await world.receive('in.eml', ORDINARY);
    expect(await world.read<MailRead>('mail.read', { path: 'in.eml' })).toEqual({
      path: 'in.eml',
      subject: 'Grüße aus Köln',
      from: { name: 'Grüße', address: 'shop@corp.example' },
      to: [{ name: '', address: 'desk@corp.example' }],
      date: { written: 'Sun, 29 Mar 2026 03:15:00 +0200', utc: '2026-03-29T01:15:00Z' },
      text: 'Preis: 5 €',
      attachments: [{ name: 'x.pdf', type: 'application/pdf', bytes: 5 }],
    });
    expect(await readdir(world.inbox)).toEqual(['in.eml']);
    expect(await world.files()).toEqual([]);
  });

  test('HTML alone becomes text, its links are listed, its scripts are nothing', async () => {
    await using world = await MailWorld.open();
    const html =
      '<p>Pay <a href="https://evil.example/x">here</a></p><script>run()</script><img src=https://t.example/1>';
    await world.receive('h.eml', `Subject: h\nContent-Type: text/html; charset=utf-8\n\n${html}\n`);
    expect(await world.read<MailRead>('mail.read', { path: 'h.eml' })).toMatchObject({
      text: 'Pay here',
      links: [{ text: 'here', href: 'https://evil.example/x' }],
      notes: ['The message has HTML only; this is its text.'],
    });
  });

  test('what cannot be decoded is said', async () => {
    await using world = await MailWorld.open();
    await world.receive(
      'b.eml',
      Buffer.from('Subject: b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nM\xfcller\r\n', 'latin1'),
    );
    const { notes } = await world.read<MailRead>('mail.read', { path: 'b.eml' });
    expect(notes?.join()).toContain('1 characters could not be decoded');
  });

  test('folded headers and long subjects are one line', async () => {
    const { subject } = await parseMail(Buffer.from(mail('Subject: one\r\n two\r\n\tthree')));
    expect(subject.replaceAll(/\s+/g, ' ')).toBe('one two three');
  });

  test('odd senders are noticed: look-alike domain, answers elsewhere, two From headers', async () => {
    await using world = await MailWorld.open({ contacts: ['haldenjoinery.example'] });
    const headers =
      'From: Halden <office@ha1denjoinery.example>\nFrom: b@b.example\nReply-To: x@other.example\nSubject: Re: Thursday';
    await world.receive('odd.eml', mail(headers));
    const read = await world.read<MailRead>('mail.read', { path: 'odd.eml' });
    expect(read.warnings?.join('\n')).toContain('reads like the known "haldenjoinery.example"');
    expect(read.warnings?.join('\n')).toContain('Answers go to "x@other.example"');
    expect(read.notes?.join('\n')).toContain('The header "from" stands more than once');
  });

  test.each([
    'absent.eml',
    '../in.eml',
    '/etc/passwd',
    'in.eml/',
    '.hidden.eml',
    'link.eml',
    'x.txt',
    'folder.eml',
  ])('%s is no message of the inbox', async (path) => {
    await using world = await MailWorld.open();
    await writeFile(join(world.drafts, 'in.eml'), ORDINARY);
    await writeFile(join(world.inbox, 'x.txt'), ORDINARY);
    await symlink(join(world.drafts, 'in.eml'), join(world.inbox, 'link.eml'));
    await symlink(world.drafts, join(world.inbox, 'folder.eml'));
    expect((await failure(world.read('mail.read', { path }))).code).toBe('mail-not-found');
  });

  test('no bytes make the reader fail in any other way than by saying so', async () => {
    const piece = fc.constantFrom(
      'Subject: ',
      'From: ',
      '=?utf-8?B?',
      '?=',
      '\r\n',
      '\r\n\r\n',
      '--m',
      '--m--',
      'Content-Type: multipart/mixed; boundary=m',
      'Date: ',
      '<a@b>',
      '\0',
      '\u{FF}',
      ';',
      '"',
      'x',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        expect(await parseMail(Buffer.from(pieces.join(''), 'latin1'))).toHaveProperty('text');
      }),
    );
  });

  test('a message nested without end is refused', async () => {
    let text = '';
    for (let depth = 0; depth < 100; depth++)
      text += `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`;
    expect((await failure(parseMail(Buffer.from(text)))).code).toBe('mail-broken');
  });
});

const openInbox = async (): Promise<MailWorld> => {
  const world = await MailWorld.open();
  await world.receive(
    '1.eml',
    mail(
      'From: Ann <ann@corp.example>\nTo: b@corp.example\nSubject: Glass\nDate: Mon, 2 Nov 2026 10:00:00 +0100',
      'The price is 5 Euro.',
    ),
  );
  await world.receive(
    '2.eml',
    mail(
      'From: bob@corp.example\nSubject: =?utf-8?Q?T=C3=BCren?=\nDate: Mon, 2 Nov 2026 09:30:00 +0000',
      'Doors.',
    ),
  );
  await world.receive('3.eml', mail('From: cy@corp.example\nSubject: no date', 'Glass too.'));
  await world.receive('notes.txt', 'no mail');
  return world;
};

describe('the-inbox-is-listed-and-searched', () => {
  test('newest first by instant, not by how the date is written', async () => {
    await using world = await openInbox();
    const page = await world.read<MailPage>('mail.list', {});
    expect(page.messages.map(({ path, subject }) => [path, subject])).toEqual([
      ['2.eml', 'Türen'],
      ['1.eml', 'Glass'],
      ['3.eml', 'no date'],
    ]);
    expect(page.messages[1]).toMatchObject({ from: 'Ann <ann@corp.example>', to: ['b@corp.example'] });
    const second = await world.read<MailPage>('mail.list', { limit: 1, skip: 1 });
    expect(second).toMatchObject({ total: 3, messages: [{ path: '1.eml' }] });
  });

  test.each([
    ['glass', ['1.eml', '3.eml']],
    ['GLASS price', ['1.eml']],
    ['türen', ['2.eml']],
    ['ann@corp.example', ['1.eml']],
    ['absent', []],
  ])('%s', async (query, paths) => {
    await using world = await openInbox();
    const { messages } = await world.read<MailPage>('mail.search', { query });
    expect(messages.map(({ path }) => path)).toEqual(paths);
  });

  test('the surroundings of a hit are shown', async () => {
    await using world = await openInbox();
    const { messages } = await world.read<MailPage>('mail.search', { query: 'price' });
    expect(messages[0]?.around).toContain('the price is 5 euro.');
  });
});

test.each([
  ['Sun, 29 Mar 2026 03:15:00 +0200', '2026-03-29T01:15:00Z'],
  ['29 Mar 2026 03:15 +0200', '2026-03-29T01:15:00Z'],
  ['Fri, 21 Nov 97 09:55:06 -0600', '1997-11-21T15:55:06Z'],
  ['Thu, 13 Feb 1969 23:32:54 -0330 (Newfoundland Time)', '1969-02-14T03:02:54Z'],
  ['Tue, 1 Jul 2003 10:52:37 GMT', '2003-07-01T10:52:37Z'],
  ['Tue, 1 Jul 2003 10:52:37 EDT', '2003-07-01T14:52:37Z'],
  ['Sat, 31 Dec 2016 23:59:60 +0000', '2016-12-31T23:59:59Z'],
  ['Tue, 1 Jul 2003 10:52:37', undefined],
  ['Tue, 31 Jun 2003 10:52:37 +0000', undefined],
  ['Tue, 1 Jul 2003 25:52:37 +0000', undefined],
  ['2026-03-29', undefined],
  ['', undefined],
])('a-date-is-read-without-this-machine-s-zone: %s', (written, utc) => {
  expect(readDate(written).utc).toBe(utc);
});

test('a-clean-name-is-a-plain-name', () => {
  const names: readonly (readonly [string, string])[] = [
    ['../../etc/x.pdf', 'x.pdf'],
    ['C:\\Windows\\x.exe', 'x.exe'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['CON.txt', '_CON.txt'],
    ['..', 'attachment-1'],
    ['a\r\nb.txt', 'a__b.txt'],
    [' .x. ', 'x'],
    [`${'n'.repeat(300)}.pdf`, `${'n'.repeat(116)}.pdf`],
  ];
  for (const [sent, clean] of names) expect(cleanName(sent, 0)).toBe(clean);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (sent) => {
      expect(isPlainName(cleanName(sent, 0))).toBe(true);
    }),
  );
});
