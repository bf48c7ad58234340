/**
 * What a person should notice about addresses and words: a domain that reads like a known one and is
 * another, letters of several alphabets in one name, characters that are not seen. Warnings only; the
 * person decides.
 */
import { domainToUnicode } from 'node:url';
import { domainOf, type Mailbox, quote } from './address.ts';

/** Pairs first, then single characters, each to what it is read as in a hurry. */
const READ_AS: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/cl/g, 'd'],
  [/nn/g, 'm'],
  [/[1i|!íìîïıіΙι]/g, 'l'],
  [/[0οоօ]/g, 'o'],
  [/[2]/g, 'z'],
  [/[3еε]/g, 'e'],
  [/[4аα]/g, 'a'],
  [/[5ѕ]/g, 's'],
  [/[68вβ]/g, 'b'],
  [/[9ɡ]/g, 'g'],
  [/[7тτ]/g, 't'],
  [/[сϲ]/g, 'c'],
  [/[рρ]/g, 'p'],
  [/[уγ]/g, 'y'],
  [/[хχ]/g, 'x'],
  [/[јϳ]/g, 'j'],
  [/[ԁ]/g, 'd'],
  [/[һнհ]/g, 'h'],
  [/[кκ]/g, 'k'],
  [/[м]/g, 'm'],
  [/[ոпη]/g, 'n'],
  [/[υս]/g, 'u'],
  [/[νѵ]/g, 'v'],
  [/[ԛ]/g, 'q'],
  [/[ԝω]/g, 'w'],
  [/-/g, ''],
];

/** Shorter names are one letter apart by chance. */
const CLOSE_CHARS_MIN = 6;

/** The domain as it is read: accents off, similar signs made one. */
const skeleton = (domain: string): string => {
  let text = domain.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  for (const [pattern, as] of READ_AS) text = text.replace(pattern, as);
  return text;
};

/** One letter added, left out, changed, or two neighbours swapped. */
const oneApart = (one: string, other: string): boolean => {
  const [long, short] = one.length >= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || short.length < CLOSE_CHARS_MIN) return false;
  let at = 0;
  while (at < short.length && long[at] === short[at]) at++;
  if (long.length > short.length) return long.slice(at + 1) === short.slice(at);
  if (long.slice(at + 1) === short.slice(at + 1)) return true;
  return (
    long[at] === short[at + 1] && long[at + 1] === short[at] && long.slice(at + 2) === short.slice(at + 2)
  );
};

const nameAndEnding = (domain: string): readonly [string, string] => {
  const dot = domain.indexOf('.');
  return dot < 0 ? [domain, ''] : [domain.slice(0, dot), domain.slice(dot + 1)];
};

const ALPHABETS: readonly (readonly [string, RegExp])[] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
];

const alphabetsOf = (text: string): readonly string[] =>
  ALPHABETS.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);

const likeKnown = (domain: string, known: readonly string[]): string | undefined => {
  if (known.some((one) => domain === one || domain.endsWith(`.${one}`))) return undefined;
  const [name, ending] = nameAndEnding(domain);
  for (const one of known) {
    const [oneName, oneEnding] = nameAndEnding(one);
    if (skeleton(domainToUnicode(domain)) === skeleton(one) || oneApart(domain, one))
      return `"${domain}" reads like the known "${one}" and is another domain.`;
    if (domain.startsWith(`${one}.`) || domain.includes(`.${one}.`) || name === one.replaceAll('.', '-'))
      return `"${domain}" holds the known "${one}" in its name and is another domain.`;
    if (name === oneName && ending !== oneEnding && name.length >= CLOSE_CHARS_MIN)
      return `"${domain}" has the name of the known "${one}" under another ending.`;
  }
  return undefined;
};

/** Warnings about one domain, in ASCII form; `known` are the domains of known correspondents. */
const domainWarnings = (domain: string, known: readonly string[]): readonly string[] => {
  const warnings: string[] = [];
  const like = likeKnown(domain, known);
  if (like !== undefined) warnings.push(like);
  const unicode = domainToUnicode(domain);
  if (unicode !== domain) warnings.push(`"${domain}" is shown as "${unicode}" by some programs.`);
  for (const label of unicode.split('.')) {
    const alphabets = alphabetsOf(label);
    if (alphabets.length > 1)
      warnings.push(`"${label}" in "${domain}" mixes ${alphabets.join(' and ')} letters.`);
  }
  return warnings;
};

export const mailboxWarnings = ({ name, address }: Mailbox, known: readonly string[]): readonly string[] => {
  const warnings = [...domainWarnings(domainOf(address), known)];
  const inName = /[^\s<>"',;()]+@[^\s<>"',;()]+/.exec(name)?.[0];
  if (inName !== undefined && inName.toLowerCase() !== address.toLowerCase())
    warnings.push(`The name ${quote(name)} shows another address than ${address}.`);
  for (const word of name.split(/[\s.-]+/)) {
    const alphabets = alphabetsOf(word);
    if (alphabets.length > 1)
      warnings.push(`${quote(word)} in a name mixes ${alphabets.join(' and ')} letters.`);
  }
  return warnings;
};

/** Bidirectional controls, zero-width and tag characters. ZWJ and ZWNJ belong to some scripts and emoji. */
const HIDDEN =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

export const hiddenWarnings = (field: string, text: string): readonly string[] => {
  const count = text.match(HIDDEN)?.length ?? 0;
  return count === 0
    ? []
    : [`The ${field} holds ${count} characters that are not seen or turn the direction of text.`];
};

export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, '');
