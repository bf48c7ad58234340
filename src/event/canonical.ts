/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code unit, no white space, numbers as ECMAScript writes
 * them. One deviation: RFC 8785 refuses lone surrogates, here they are written as \uXXXX escapes (well-formed
 * JSON.stringify, ECMA-262 25.5.2.3), because the record must be able to hold what a provider really sent.
 */
import { hash } from 'node:crypto';
import { bug } from '../errors.ts';
import type { Json } from './json.ts';

/** SHA-256 as 64 hexadecimal digits. */
export type Digest = string & { readonly __brand: 'Digest' };

export const DIGEST_LENGTH = 64;

export const sha256 = (bytes: string | Uint8Array): Digest => hash('sha256', bytes, 'hex') as Digest;

/** Canonical text of a value. Members that are `undefined` are left out; other non-JSON values throw. */
export const canonical = (value: Json | undefined): string => canonicalForm(value).text;

export type CanonicalForm = {
  /** What JSON.parse makes of the text: a copy that shares no object with the value that was given. */
  readonly value: Json;
  readonly text: string;
};

/** Canonical text together with the value that every reader of that text gets. Throws as `canonical` does. */
export const canonicalForm = (value: Json | undefined): CanonicalForm => {
  const found: Found = { numericKey: false };
  const copy = sortedCopy(value, found);
  return { value: copy, text: found.numericKey ? sortedText(copy) : JSON.stringify(copy) };
};

/** Objects keep keys such as "10" in the order of their numbers, wherever they are put: those are sorted as text. */
type Found = { numericKey: boolean };

type JsonMembers = { readonly [key: string]: Json | undefined };

const sortedCopy = (value: Json | undefined, found: Found): Json => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw bug('an event holds finite numbers only', { value: String(value) });
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw bug('an event holds JSON only', { type: typeof value });
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (let i = 0; i < value.length; i++) items.push(sortedCopy(value[i] as Json | undefined, found));
    return items;
  }
  return sortedObject(value as JsonMembers, found);
};

const sortedObject = (object: JsonMembers, found: Found): Json => {
  const copy: { [key: string]: Json } = {};
  for (const key of sortedKeys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    if (isDigit(key.charCodeAt(0))) found.numericKey = true;
    const item = sortedCopy(member, found);
    // Assignment would call the prototype setter for "__proto__"; a definition makes an own property.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: item, enumerable: true, configurable: true, writable: true });
    else copy[key] = item;
  }
  return copy;
};

/** Whether `canonical` takes a value. Cycles are no JSON. */
export const isJson = (value: unknown): value is Json => {
  try {
    return holdsJson(value);
  } catch {
    // A cycle, or a getter that throws.
    return false;
  }
};

const holdsJson = (value: unknown): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (Array.isArray(value)) return value.every(holdsJson);
  for (const key of Object.keys(value)) {
    const member = (value as JsonMembers)[key];
    if (member !== undefined && !holdsJson(member)) return false;
  }
  return true;
};

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Up to so many keys are sorted by insertion, which costs less than a call of Array.prototype.sort. */
const FEW_KEYS = 12;

/** By UTF-16 code unit, which is what the RFC asks for, and how both sort() and ">" compare. */
export const sortedKeys = (object: object): readonly string[] => {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? '';
    let at = i;
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) keys[at] = keys[at - 1] ?? '';
    keys[at] = key;
  }
  return keys;
};

const sortedText = (value: Json): string => {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  const object = value as { readonly [key: string]: Json };
  const member = (key: string): string => `${JSON.stringify(key)}:${sortedText(object[key] as Json)}`;
  return `{${sortedKeys(object).map(member).join(',')}}`;
};

/** Whether two values have the same canonical text, found without writing it. */
export const isSame = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (!Array.isArray(a)) return !Array.isArray(b) && isSameObject(a as JsonMembers, b as JsonMembers);
  const other = Array.isArray(b) ? (b as readonly Json[]) : undefined;
  return a.length === other?.length && a.every((item, i) => isSame(item as Json, other[i]));
};

/** Members that are `undefined` are left out of the text, so they are no difference. */
const isSameObject = (a: JsonMembers, b: JsonMembers): boolean => {
  let members = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    if (!Object.hasOwn(b, key) || !isSame(value, b[key])) return false;
    members++;
  }
  for (const key in b) if (b[key] !== undefined) members--;
  return members === 0;
};

/** The digest of a value's canonical text. */
export const digestOf = (value: Json): Digest => sha256(canonical(value));
