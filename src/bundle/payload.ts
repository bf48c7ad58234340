/**
 * What of an event may be removed, and what has to stay for the log to be read: numbers, types, places, names of
 * tools and rules, digests. Everything that is not named as structure here is payload, so that a member which a later
 * version adds is removed rather than kept.
 */
import type { Json, JsonObject } from '../event/json.ts';
import { isJsonObject } from '../event/json.ts';
import { isDigest } from '../replay/named-blobs.ts';

/** `text` and the others are strings; `value` is a JSON value that tools wrote as they liked; `blob` names bytes beside the log. */
export type PayloadKind = 'text' | 'args' | 'json' | 'value' | 'blob';

export type Payload = {
  readonly kind: PayloadKind;
  readonly path: readonly string[];
  readonly value: Json;
};

const STRUCTURE: readonly RegExp[] = [
  /^\S+ \/(call|tool|label|rule|do|code|fingerprint|digest|chain|stop|outcome|program)$/,
  /^\S+ \/(by|outcome|problem)\/kind$/,
  /^\S+ \/outcome\/code$/,
  /^(call\.rejected|call\.retry|call\.doubted|request\.retry|driver\.changed|turn\.ended) \/reason$/,
  /^(approval\.invalidated|summary\.discarded) \/reason$/,
  // Whose log it is: the chain begins with that name.
  /^session\.(created|forked) \/session$/,
  /^session\.created \/rehearsal\/(session|hash)$/,
  /^\S+ \/(mode|scope|topic|fork)$/,
  /^\S+ \/(seen|labels)\/\d+$/,
  /^selection\.changed \/change\/(do|policy\/kind)$/,
  /^\S+ \/agent\/context\/select\/kind$/,
  /^\S+ \/agent\/policy\/rules\/\d+\/seen\/\d+$/,
  /^\S+ \/(decision\/do|settlement\/answer|answer\/happened)$/,
  /^\S+ \/frame\/(head|tail)$/,
  /^\S+ \/receipt\//,
  /^\S+ \/parent\/(session|hash)$/,
  /^\S+ \/((outcome|answer|settlement|decision)\/)?(content|input)\/\d+\/type$/,
  /^response\.received \/content\/\d+\/(label|name)$/,
  /^\S+ \/agent\/(name|model\/(provider|name))$/,
  /^\S+ \/agent\/tools\/\d+\/(name|effect|approval|digest)$/,
  /^\S+ \/agent\/policy\/rules\/\d+\/(id|do|tools\/\d+|effects\/\d+)$/,
];

/** Values that are taken whole, unless a rule names a member of theirs. */
const VALUES =
  /^\S+ \/(preview|base|agent\/tools\/\d+\/inputSchema|agent\/model\/params|agent\/policy\/rules\/\d+\/when)$/;
const ARGS = /^\S+ \/((decision\/)?args|content\/\d+\/args)$/;

/** Parts of requests have a treatment of their own: they repeat what stands elsewhere. */
const REQUEST_PARTS = /^request\.built \/parts$/;

export const pointerOf = (path: readonly string[]): string => path.map((segment) => `/${segment}`).join('');

/** Every payload of an event's data, in order. */
export const payloadsOf = (type: string, data: Json): readonly Payload[] => {
  const found: Payload[] = [];
  const walk = (value: Json, path: readonly string[]): void => {
    const name = `${type} ${pointerOf(path)}`;
    if (REQUEST_PARTS.test(name)) return;
    if (VALUES.test(name)) return void found.push({ kind: 'value', path, value });
    if (typeof value === 'string') {
      if (!STRUCTURE.some((one) => one.test(name)))
        found.push({ kind: textKind(name, path, data), path, value });
      return;
    }
    if (Array.isArray(value)) return value.forEach((item: Json, i) => walk(item, [...path, String(i)]));
    if (!isJsonObject(value)) return;
    if (isBlobRef(value)) found.push({ kind: 'blob', path, value });
    for (const [key, member] of Object.entries(value)) {
      if (isBlobRef(value) && (key === 'digest' || key === 'media')) continue;
      if (member !== undefined) walk(member, [...path, key]);
    }
  };
  walk(data, []);
  return found;
};

const isBlobRef = ({ digest, bytes, media }: JsonObject): boolean =>
  isDigest(digest) && typeof bytes === 'number' && typeof media === 'string';

const textKind = (name: string, path: readonly string[], data: Json): PayloadKind => {
  if (ARGS.test(name)) return 'args';
  const holder = valueAt(data, path.slice(0, -1));
  const isJson = isJsonObject(holder) && (holder['type'] === 'json' || path.at(-1) === 'json');
  return isJson ? 'json' : 'text';
};

export const valueAt = (data: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((value, key) => {
    if (Array.isArray(value)) return (value as readonly Json[])[Number(key)];
    return isJsonObject(value) ? value[key] : undefined;
  }, data);

/** Names of members at any depth of a JSON value, or of JSON text. */
export const membersOf = ({ kind, value }: Payload): ReadonlySet<string> => {
  const names = new Set<string>();
  const walk = (one: Json | undefined): void => {
    if (Array.isArray(one)) return one.forEach(walk);
    if (!isJsonObject(one)) return;
    for (const [key, member] of Object.entries(one)) {
      names.add(key);
      walk(member);
    }
  };
  if (kind === 'value') walk(value);
  else if (kind === 'args' || kind === 'json') walk(parsedText(value));
  return names;
};

/** Every text in a payload, those within JSON among them. */
export const textsOf = ({ kind, value }: Payload): readonly string[] => {
  const texts: string[] = [];
  const walk = (one: Json | undefined): void => {
    if (typeof one === 'string') texts.push(one);
    else if (Array.isArray(one)) one.forEach(walk);
    else if (isJsonObject(one)) Object.values(one).forEach(walk);
  };
  if (kind === 'blob') return texts;
  walk(value);
  if (kind === 'args' || kind === 'json') walk(parsedText(value));
  return texts;
};

const parsedText = (value: Json): Json | undefined => {
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    // What a model wrote as arguments need not be JSON.
    return undefined;
  }
};
