/** Domains in texts: which ones the asker named, and which ones may be taken for another. Pure. */
import { contentText } from '../context/result-text.ts';
import { decodeDomain, domainOf, lookAlike } from './look-alike.ts';
import type { SessionRecord } from './record.ts';

/** Domains of mail addresses, and hosts of URLs. */
const DOMAIN =
  /[^\s@<>"',;:()[\]]+@([^\s@<>"',;:!?()[\]/\\]+)|[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#@]*@)?([^\s/?#:"'<>)\]]+)/giu;
/** More in one card are not looked at one by one. */
export const DOMAINS_MAX = 200;

/** In the order in which they stand there, each once. */
export const domainsIn = (texts: readonly string[]): readonly string[] => {
  const found = new Set<string>();
  for (const text of texts)
    for (const [, address, host] of text.matchAll(DOMAIN)) {
      const domain = (address ?? host ?? '').replace(/\.+$/, '');
      if (domain.includes('.') && found.size < DOMAINS_MAX) found.add(domain);
    }
  return [...found];
};

/** Domains that stand in the asker's own words or in the agent's instructions; nothing that strangers wrote. */
export const ownDomains = ({ events, state }: SessionRecord): readonly string[] =>
  domainsIn([
    state.agent.instructions,
    ...events.flatMap((event) =>
      (event.type === 'turn.accepted' || event.type === 'turn.steered') && event.data.labels === undefined
        ? [contentText(event.data.input)]
        : [],
    ),
  ]);

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
];

/** Sentences about what an address, URL or domain can be taken for; empty where nothing is odd. */
export const domainWords = (address: string, known: readonly string[]): readonly string[] => {
  const alike = lookAlike(address, known);
  if (alike !== undefined) return [alike.sentence];
  const domain = domainOf(address);
  const decoded = decodeDomain(domain);
  const scripts = SCRIPTS.filter(([, pattern]) => decoded.split('.').some((label) => mixes(label, pattern)));
  const mixed =
    scripts.length > 1 ? [`${decoded} mixes ${scripts.map(([name]) => name).join(' and ')} letters`] : [];
  return [...(decoded === domain ? [] : [`${domain} reads ${decoded}`]), ...mixed];
};

/** One label with letters of this script and of another. */
const mixes = (label: string, pattern: RegExp): boolean =>
  pattern.test(label) && SCRIPTS.some(([, other]) => other !== pattern && other.test(label));
