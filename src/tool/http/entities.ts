/**
 * Named characters of HTML that occur in ordinary pages and mail: Latin 1 and the common signs. An unknown
 * name stays as it is written.
 */

/** U+00A0 to U+00FF in order. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring ' +
  'AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml ' +
  'times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil ' +
  'egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ' +
  'ugrave uacute ucirc uuml yacute thorn yuml';

const SIGNS: readonly (readonly [string, number])[] = [
  ['amp', 0x26],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', 0x22],
  ['apos', 0x27],
  ['euro', 0x20ac],
  ['trade', 0x2122],
  ['hellip', 0x2026],
  ['ndash', 0x2013],
  ['mdash', 0x2014],
  ['lsquo', 0x2018],
  ['rsquo', 0x2019],
  ['sbquo', 0x201a],
  ['ldquo', 0x201c],
  ['rdquo', 0x201d],
  ['bdquo', 0x201e],
  ['lsaquo', 0x2039],
  ['rsaquo', 0x203a],
  ['bull', 0x2022],
  ['dagger', 0x2020],
  ['permil', 0x2030],
  ['ensp', 0x2002],
  ['emsp', 0x2003],
  ['thinsp', 0x2009],
  ['zwnj', 0x200c],
  ['zwj', 0x200d],
  ['larr', 0x2190],
  ['uarr', 0x2191],
  ['rarr', 0x2192],
  ['darr', 0x2193],
  ['harr', 0x2194],
  ['minus', 0x2212],
  ['ne', 0x2260],
  ['le', 0x2264],
  ['ge', 0x2265],
  ['asymp', 0x2248],
  ['infin', 0x221e],
  ['sum', 0x2211],
  ['radic', 0x221a],
  ['OElig', 0x152],
  ['oelig', 0x153],
  ['Scaron', 0x160],
  ['scaron', 0x161],
  ['Yuml', 0x178],
  ['fnof', 0x192],
  ['check', 0x2713],
];

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(' ').map((name, at): [string, string] => [name, String.fromCharCode(0xa0 + at)]),
  ...SIGNS.map(([name, code]): [string, string] => [name, String.fromCodePoint(code)]),
]);

/** What windows-1252 bytes become when a page writes them as numbers (WHATWG HTML, numeric references). */
const windows1252 = new TextDecoder('windows-1252');
const REFERENCE = /&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,7}));/g;

const fromNumber = (code: number): string => {
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(Uint8Array.of(code));
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return valid ? String.fromCodePoint(code) : '\u{FFFD}';
};

export const decodeReferences = (text: string): string =>
  text.replace(REFERENCE, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return fromNumber(Number.parseInt(hex, 16));
    if (decimal !== undefined) return fromNumber(Number.parseInt(decimal, 10));
    return NAMED.get(name ?? '') ?? whole;
  });
