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
export const canonical = (value: Json | undefined): string => {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw bug('an event holds finite numbers only', { value: String(value) });
      return value === 0 ? '0' : String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      break;
    default:
      throw bug('an event holds JSON only', { type: typeof value });
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return canonicalArray(value as readonly Json[]);
  return canonicalObject(value as { readonly [key: string]: Json | undefined });
};

const canonicalArray = (items: readonly Json[]): string => {
  let text = '[';
  for (let i = 0; i < items.length; i++) text += (i === 0 ? '' : ',') + canonical(items[i]);
  return text + ']';
};

const canonicalObject = (object: { readonly [key: string]: Json | undefined }): string => {
  // Array.prototype.sort without a comparator compares UTF-16 code units, which is what the RFC asks for.
  const keys = Object.keys(object).sort();
  let text = '{';
  for (const key of keys) {
    const member = object[key];
    if (member === undefined) continue;
    text += (text.length === 1 ? '' : ',') + JSON.stringify(key) + ':' + canonical(member);
  }
  return text + '}';
};

/** Whether two values have the same canonical text, found without writing it. */
export const isSame = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (!Array.isArray(a)) return !Array.isArray(b) && isSameObject(a as JsonMembers, b as JsonMembers);
  const other = Array.isArray(b) ? (b as readonly Json[]) : undefined;
  return a.length === other?.length && a.every((item, i) => isSame(item as Json, other[i]));
};

type JsonMembers = { readonly [key: string]: Json | undefined };

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
