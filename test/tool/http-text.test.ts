import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText } from '../../src/tool/http/charset.ts';
import { htmlToText } from '../../src/tool/http/html.ts';
import { SecretMask } from '../../src/secret/mask.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('text-is-decoded-as-it-was-meant', () => {
  test.each([
    ['utf-8 mark over a wrong declaration', bytes(0xef, 0xbb, 0xbf, 0xc3, 0xa9), 'iso-8859-1', 'é', 'utf-8'],
    ['utf-16le mark', bytes(0xff, 0xfe, 0xe9, 0), undefined, 'é', 'utf-16le'],
    ['utf-16be mark', bytes(0xfe, 0xff, 0, 0xe9), undefined, 'é', 'utf-16be'],
    ['declared latin 1', bytes(0xe9), 'iso-8859-1', 'é', 'windows-1252'],
    ['declared shift_jis', bytes(0x93, 0xfa, 0x96, 0x7b), 'Shift_JIS', '日本', 'shift_jis'],
    ['nothing declared, valid utf-8', bytes(0xc3, 0xa9), undefined, 'é', 'utf-8'],
  ])('%s', (_, body, declared, ...[text, charset]) => {
    expect(decodeText(body, declared, false)).toEqual({ text, charset });
  });

  test.each([
    ['<meta charset="windows-1251">', 'windows-1251'],
    ['<meta http-equiv=content-type content="text/html; charset=windows-1251">', 'windows-1251'],
    ['<?xml version="1.0" encoding="windows-1251"?>', 'windows-1251'],
    ['<meta charset=utf-16>', 'utf-8'],
  ])('written in the page: %s', (declaration, charset) => {
    expect(decodeText(Buffer.from(declaration), undefined, true).charset).toBe(charset);
  });

  test.each([
    ['utf-8', 'charset utf-8 declared but invalid; read as windows-1252'],
    ['x-none', 'charset x-none declared but unknown; read as windows-1252'],
    [undefined, 'no charset declared and not valid utf-8; read as windows-1252'],
  ])('declared %s, not so: a note', (declared, note) => {
    expect(decodeText(bytes(0x35, 0x80), declared, false)).toEqual({
      text: '5€',
      charset: 'windows-1252',
      note,
    });
  });

  test('no bytes make it fail or give a replacement character that was not sent', () => {
    const declared = fc.constantFrom(undefined, 'utf-8', 'gbk', 'shift_jis', 'x');
    // 0xEF 0xBF 0xBD is a replacement character that the server did send.
    const sent = fc.uint8Array({ maxLength: 64 }).filter((body) => !body.includes(0xef));
    fc.assert(
      fc.property(sent, declared, (body, label) => {
        const text = decodeText(body.slice(), label, true).text;
        const utf16 = (body[0] ?? 0) >= 0xfe;
        expect(utf16 || !text.includes('\u{FFFD}')).toBe(true);
      }),
    );
  });
});

describe('html-becomes-what-a-person-reads', () => {
  test.each([
    ['<p>Preis: <b>5 &euro;</b></p>', 'Preis: 5 €'],
    ['a<br>b<br/>c', 'a\nb\nc'],
    ['<ul><li>one<li><p>two</p></ul>after', '- one\n- two\n\nafter'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>', 'a\tb\nc\td'],
    ['<pre>  x\n    y</pre>z', 'x\n    y\n\nz'],
    ['one   two\n\n three', 'one two three'],
    ['<img alt="A > B" src=x>!', 'A > B!'],
    ['<a title="x>y" href=/z>link</a>', 'link'],
    ['1 < 2 & 3 > 2 &amp;&lt;&#x41;&#65;&#128;&nosuch;', '1 < 2 & 3 > 2 &<AA€&nosuch;'],
    ['<!-- <p>hidden --> shown <!doctype html>', 'shown'],
    ['<script>if (a < b) "</p>"</script>text<style>p{}</style>', 'text'],
    ['<SCRIPT>x</SCRIPT >after', 'after'],
    ['İ<script>x</script>after', 'İafter'],
    ['<svg><title>no</title></svg><textarea>&amp;</textarea>', '&'],
    ['before<script>never closed', 'before'],
    ['&#0;&#xD800;&#1114112;', '\u{FFFD}\u{FFFD}\u{FFFD}'],
  ])('%s', (html, text) => {
    expect(htmlToText(html).text).toBe(text);
  });

  test('title and links', () => {
    const page = htmlToText(
      '<head><TITLE> A &amp;\n B </TITLE></head><a href="/x?a=1&amp;b=2">go <b>on</b></a><a name=y>no</a>',
    );
    expect(page).toEqual({ title: 'A & B', text: 'go onno', links: [{ text: 'go on', href: '/x?a=1&b=2' }] });
  });

  test('hostile pages of a mebibyte are read in one pass', () => {
    const pages = [
      '<',
      '<a ',
      '<a "',
      '<!--',
      '<script>',
      '</script',
      '<title>',
      '<p>x ',
      'x ',
      '&#1',
      '<a href=x>y',
      '<li>',
      '<a href=',
    ];
    let slowest = 0;
    for (const piece of pages) {
      const start = process.cpuUsage();
      htmlToText(piece.repeat(Math.ceil(1_048_576 / piece.length)));
      const { user, system } = process.cpuUsage(start);
      slowest = Math.max(slowest, (user + system) / 1000);
    }
    expect(slowest).toBeLessThan(3000);
  }, 60_000);

  test('no tag of a script survives, whatever the nesting', () => {
    const piece = fc.constantFrom(
      '<script>',
      '</script>',
      '<',
      '>',
      '"',
      "'",
      '<!--',
      '-->',
      'evil()',
      '<p>',
      '&lt;',
      '=',
      ' ',
      '<svg',
      '/',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(typeof htmlToText(pieces.join('')).text).toBe('string');
      }),
    );
  });
});

describe('a-mask-finds-a-secret-in-every-form', () => {
  const secret = fc
    .string({ minLength: 8, maxLength: 40, unit: 'grapheme' })
    .filter((value) => value.isWellFormed() && !value.includes('[') && value.trim().length > 7);

  test('raw, URL, JSON, base64 at any offset, hex', () => {
    fc.assert(
      fc.property(secret, fc.nat(2), (value, shift) => {
        const mask = new SecretMask([{ name: 'KEY', value }]);
        const inBase64 = Buffer.from(`${'u'.repeat(shift)}${value}tail`).toString('base64');
        const forms = [
          value,
          encodeURIComponent(value),
          JSON.stringify(value),
          Buffer.from(value).toString('hex'),
          inBase64,
        ];
        for (const form of forms) {
          expect(mask.apply(`before ${form} after`)).toContain('[secret KEY]');
          expect(mask.foundIn(Buffer.from(`x${form}`))).toBe(true);
        }
      }),
    );
  });

  test('a Basic credential is known by its password too', () => {
    const mask = new SecretMask([]);
    mask.add('KEY', `Basic ${Buffer.from('user:pass-word-1').toString('base64')}`);
    expect(mask.apply('the password is pass-word-1')).toBe('the password is [secret KEY]');
  });
});
