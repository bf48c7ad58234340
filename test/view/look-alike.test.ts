import { domainToUnicode } from 'node:url';
import { describe, expect, it } from 'vitest';
import { decodeDomain, domainOf, lookAlike } from '../../src/view/look-alike.ts';

const sentence = (candidate: string, known: string): string | undefined =>
  lookAlike(candidate, [known])?.sentence;

describe('a domain that looks like a known one', () => {
  it('is told with the character that differs', () => {
    expect(sentence('office@ha1denjoinery.example', 'office@haldenjoinery.example')).toBe(
      'looks like haldenjoinery.example; character 3 is a digit one',
    );
    expect(sentence('hаlden.example', 'halden.example')).toBe(
      'looks like halden.example; character 2 is U+0430, a Cyrillic letter',
    );
    expect(sentence('hạlden.example', 'halden.example')).toBe(
      'looks like halden.example; character 2 is U+1EA1, not a',
    );
    expect(sentence('haIden.example', 'halden.example')).toBe(
      'looks like halden.example; character 3 is a capital i',
    );
    expect(sentence('modem.example', 'modern.example')).toBe(
      'looks like modern.example; character 5 is m, not rn',
    );
    expect(sentence('micr0soft.example', 'microsoft.example')).toContain('character 5 is a digit zero');
  });

  it('is found behind punycode, which is decoded', () => {
    expect(lookAlike('https://xn--80ak6aa92e.com/login', ['apple.com'])).toMatchObject({
      decoded: 'аррӏе.com',
      character: 1,
      known: 'apple.com',
    });
  });

  it('is not one that is known, in any case, nor one with other letters', () => {
    expect(lookAlike('a@HALDEN.example', ['halden.example'])).toBeUndefined();
    expect(lookAlike('holden.example', ['halden.example'])).toBeUndefined();
    expect(lookAlike('halden.example.evil.test', ['halden.example'])).toBeUndefined();
    expect(lookAlike('', [''])).toBeUndefined();
    expect(lookAlike('ha1den.example', ['halden.example', 'ha1den.example'])).toBeUndefined();
  });

  it('decodes labels as Node does, and leaves what is no punycode', () => {
    for (const domain of ['xn--mnchen-3ya.de', 'xn--80ak6aa92e.com', 'xn--fiqs8s', 'a.xn--bcher-kva.example'])
      expect(decodeDomain(domain)).toBe(domainToUnicode(domain));
    expect(decodeDomain('xn--\u00e9.example')).toBe('xn--\u00e9.example');
    expect(decodeDomain('xn--99999999.example')).toBe('xn--99999999.example');
  });

  it('reads the domain out of addresses and URLs', () => {
    expect(domainOf('Halden <office@halden.example>')).toBe('halden.example');
    expect(domainOf('https://user:pw@halden.example:8080/x?y#z')).toBe('halden.example');
    expect(domainOf('"a@b.test" <c@d.test>')).toBe('d.test');
  });
});
