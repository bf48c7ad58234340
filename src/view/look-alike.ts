/**
 * Domains that look like another one: digits for letters, letters of other scripts, accents, pairs that
 * read as one letter, punycode. Pure. A small table for what people meet, not the whole of UTS 39.
 */

/** ASCII letters and what is taken for them. `l` stands for the whole family of upright strokes. */
const TAKEN_FOR: Readonly<Record<string, string>> = {
  a: 'аαɑ',
  b: 'ьЬ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еєε',
  f: 'ϝ',
  g: 'ɡց',
  h: 'һհ',
  j: 'јϳ',
  k: 'кκ',
  l: '1iIıіιӏ|ǀ',
  m: 'м',
  n: 'ηпո',
  o: '0оοօ',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: '5ѕ',
  t: 'тτ',
  u: 'υսц',
  v: 'νѵ',
  w: 'ԝωшա',
  x: 'хχ',
  y: 'уγү',
  z: 'ᴢ',
  '-': '‐‑‒–—−',
  '.': '。․',
};
const PAIRS: Readonly<Record<string, string>> = { rn: 'm', vv: 'w' };

const SKELETON: ReadonlyMap<string, string> = new Map(
  Object.entries(TAKEN_FOR).flatMap(([letter, others]) =>
    Array.from(others, (other): [string, string] => [other, letter]),
  ),
);

type Glyph = { readonly text: string; readonly skeleton: string; readonly at: number };

const skeletonOf = (character: string): string => {
  const direct = SKELETON.get(character) ?? SKELETON.get(character.toLowerCase());
  if (direct !== undefined) return direct;
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return SKELETON.get(bare) ?? bare;
};

const glyphs = (domain: string): Glyph[] => {
  const characters = Array.from(domain);
  const found: Glyph[] = [];
  for (let index = 0; index < characters.length; index++) {
    const text = characters[index] ?? '';
    const pair = text + (characters[index + 1] ?? '');
    const joined = PAIRS[pair.toLowerCase()];
    found.push({
      text: joined === undefined ? text : pair,
      skeleton: joined ?? skeletonOf(text),
      at: index + 1,
    });
    if (joined !== undefined) index++;
  }
  return found;
};

const BASE = 36;
const THRESHOLD_MIN = 1;
const THRESHOLD_MAX = 26;

const adaptBias = (delta: number, points: number, first: boolean): number => {
  let rest = Math.floor(delta / (first ? 700 : 2));
  rest += Math.floor(rest / points);
  let steps = 0;
  while (rest > ((BASE - THRESHOLD_MIN) * THRESHOLD_MAX) / 2) {
    rest = Math.floor(rest / (BASE - THRESHOLD_MIN));
    steps += BASE;
  }
  return steps + Math.floor(((BASE - THRESHOLD_MIN + 1) * rest) / (rest + 38));
};

const digitOf = (character: string): number => {
  if (/^[0-9]$/.test(character)) return Number(character) + 26;
  return /^[a-z]$/.test(character) ? character.charCodeAt(0) - 97 : Number.NaN;
};

/** The Unicode text of one punycode label without its prefix (RFC 3492), or undefined if it is not valid. */
const decodeLabel = (encoded: string): string | undefined => {
  const split = encoded.lastIndexOf('-');
  const output = Array.from(encoded.slice(0, Math.max(0, split)));
  let [codePoint, place, bias] = [128, 0, 72];
  let next = split < 0 ? 0 : split + 1;
  while (next < encoded.length) {
    const before = place;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(encoded[next++] ?? '');
      if (Number.isNaN(digit)) return undefined;
      place += digit * weight;
      const threshold = Math.min(Math.max(k - bias, THRESHOLD_MIN), THRESHOLD_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
      if (!Number.isSafeInteger(weight) || !Number.isSafeInteger(place)) return undefined;
    }
    const length = output.length + 1;
    bias = adaptBias(place - before, length, before === 0);
    codePoint += Math.floor(place / length);
    place %= length;
    if (codePoint > 0x10ffff) return undefined;
    output.splice(place++, 0, String.fromCodePoint(codePoint));
  }
  return output.join('');
};

/** The domain with its punycode labels as the characters they stand for. Labels that do not decode stay. */
export const decodeDomain = (domain: string): string =>
  domain
    .split('.')
    .map((label) => {
      if (!/^xn--/i.test(label)) return label;
      return decodeLabel(label.slice(4).toLowerCase()) ?? label;
    })
    .join('.');

/** The domain of a mail address or URL, or the text itself. `Halden <a@b.example>` gives `b.example`. */
export const domainOf = (address: string): string => {
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i.exec(address);
  if (url?.[1] !== undefined) return url[1];
  const at = address.lastIndexOf('@');
  return at < 0 ? address.trim() : address.slice(at + 1).replace(/[>\s].*$/su, '');
};

export type LookAlike = {
  /** The known domain it can be taken for. */
  readonly known: string;
  /** The decoded domain, when it was written in punycode. */
  readonly decoded?: string;
  /** 1-based place of the first difference, counted in the decoded domain. */
  readonly character: number;
  readonly found: string;
  readonly expected: string;
  /** "looks like haldenjoinery.example; character 3 is a digit one" */
  readonly sentence: string;
};

const SPOKEN: Readonly<Record<string, string>> = {
  '0': 'a digit zero',
  '1': 'a digit one',
  '5': 'a digit five',
  I: 'a capital i',
};

const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/^\p{Script=Cyrillic}/u, 'a Cyrillic letter'],
  [/^\p{Script=Greek}/u, 'a Greek letter'],
  [/^\p{Script=Armenian}/u, 'an Armenian letter'],
];

const spoken = (glyph: string, expected: string): string => {
  const known = SPOKEN[glyph];
  if (known !== undefined) return known;
  if (/^[\x21-\x7e]{2}$/.test(glyph)) return `${glyph[0]} and ${glyph[1]}, not ${expected}`;
  if (/^[\x21-\x7e]$/.test(glyph)) return `${glyph}, not ${expected}`;
  const label = `U+${(glyph.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const script = SCRIPTS.find(([pattern]) => pattern.test(glyph))?.[1];
  return `${label}, ${script ?? `not ${expected}`}`;
};

/**
 * Whether `candidate` (a domain, address or URL) can be taken for one of `known` without being it. Equal
 * domains, and domains that differ in letters that do not look alike, give undefined.
 */
export const lookAlike = (candidate: string, known: readonly string[]): LookAlike | undefined => {
  const written = domainOf(candidate);
  const decoded = decodeDomain(written);
  const ours = glyphs(decoded);
  const shape = ours.map((glyph) => glyph.skeleton).join('');
  const same = decoded.toLowerCase();
  const domains = known.map((entry) => domainOf(entry));
  if (domains.some((domain) => decodeDomain(domain).toLowerCase() === same)) return undefined;
  for (const domain of domains) {
    const theirs = glyphs(decodeDomain(domain));
    if (shape === '' || theirs.map((glyph) => glyph.skeleton).join('') !== shape) continue;
    const index = ours.findIndex((glyph, at) => glyph.text.toLowerCase() !== theirs[at]?.text.toLowerCase());
    const [glyph, expected] = [ours[index], theirs[index]];
    if (glyph === undefined || expected === undefined) continue;
    const what = `character ${glyph.at} is ${spoken(glyph.text, expected.text)}`;
    const reading = decoded === written ? '' : `; it reads ${decoded}`;
    return {
      known: domain,
      ...(decoded !== written && { decoded }),
      character: glyph.at,
      found: glyph.text,
      expected: expected.text,
      sentence: `looks like ${domain}${reading}; ${what}`,
    };
  }
  return undefined;
};
