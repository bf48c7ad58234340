/**
 * The strict reader of JSON text that can lead to an effect. Where JSON.parse is lenient or lossy this one
 * refuses or keeps: duplicate keys are refused, whole numbers beyond 2^53 become BigInt, other numbers that a
 * double cannot hold are refused, depth and size are bounded before anything recurses, `__proto__` is an
 * ordinary own key.
 *
 * Invariants: (1) never throws on any string; (2) `canonical` is a pure function of the text's meaning: equal
 * values give equal text, digits are never lost; (3) linear in the length of the text.
 */

import { canonical, sortedKeys } from './canonical.ts';
import type { Json } from './json.ts';

export type StrictValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | StrictValue[]
  | { [key: string]: StrictValue };

export type StrictReason =
  | 'invalid-json'
  | 'duplicate-key'
  | 'too-deep'
  | 'too-large'
  | 'number-not-exact'
  | 'not-well-formed';

export type StrictResult =
  | { readonly ok: true; readonly value: StrictValue; readonly canonical: string }
  | {
      readonly ok: false;
      readonly reason: StrictReason;
      readonly message: string;
      readonly position: number;
    };

export const STRICT_DEPTH_MAX = 100;
/** Longer texts are read once and not twice, whatever they hold. */
const PLAIN_LENGTH_MAX = 64 * 1024;
/** UTF-16 code units of one text. */
export const STRICT_LENGTH_MAX: number = 4 * 1024 * 1024;
/** Digits of one whole number. */
const DIGITS_MAX = 400;

class Refusal {
  readonly reason: StrictReason;
  readonly message: string;
  readonly position: number;
  constructor(reason: StrictReason, message: string, position: number) {
    this.reason = reason;
    this.message = message;
    this.position = position;
  }
}

export const parseStrict = (text: string, depthMax: number = STRICT_DEPTH_MAX): StrictResult => {
  if (text.length > STRICT_LENGTH_MAX)
    return {
      ok: false,
      reason: 'too-large',
      message: `the text has ${text.length} characters, the limit is ${STRICT_LENGTH_MAX}`,
      position: STRICT_LENGTH_MAX,
    };
  const plain = readPlain(text, depthMax);
  if (plain) return plain;
  const reader = new Reader(text, depthMax);
  try {
    const value = reader.document();
    return { ok: true, value, canonical: canonicalStrict(value) };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { reason, message, position } = refusal;
    return { ok: false, reason, message, position };
  }
};

/**
 * What JSON.parse and JSON.stringify give back character by character has no key twice, no digit that a double does
 * not hold and no half of a surrogate pair. Most texts are like that, and these two are ten times as fast. Undefined
 * for any other text, also for one that is refused.
 */
const readPlain = (text: string, depthMax: number): StrictResult | undefined => {
  // An escape may hide half of a pair, which both would hand on.
  if (text.length > PLAIN_LENGTH_MAX || text.includes('\\u')) return undefined;
  try {
    const value = JSON.parse(text) as StrictValue;
    if (!isPlain(value, depthMax) || JSON.stringify(value) !== text) return undefined;
    return { ok: true, value, canonical: canonical(value as Json) };
  } catch {
    return undefined;
  }
};

/** Not too deep, and without whole numbers that have to become BigInt. */
const isPlain = (value: StrictValue, depth: number): boolean => {
  if (depth < 0) return false;
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth - 1));
  for (const key in value) if (!isPlain(value[key] as StrictValue, depth - 1)) return false;
  return true;
};

/** Whether a number that another reader made of this text is the one that stands there. */
export const isExactNumber = (text: string, value: number): boolean => {
  const read = parseStrict(text);
  if (read.ok) return read.value === value;
  // No JSON: "0x1f", "+5", "012". What is beyond 2^53 may have been rounded.
  if (read.reason === 'invalid-json') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return false;
};

/** Canonical text of a strictly read value: RFC 8785, whole numbers beyond 2^53 with all their digits. */
export const canonicalStrict = (value: StrictValue): string => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return value === 0 ? '0' : String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalStrict).join(',')}]`;
  const keys = sortedKeys(value);
  const member = (key: string): string =>
    `${JSON.stringify(key)}:${canonicalStrict(value[key] as StrictValue)}`;
  return `{${keys.map(member).join(',')}}`;
};

/** What a reader of the value's canonical text gets: its members in that order, and no sign on a zero. */
export const inOrder = (value: StrictValue): StrictValue => {
  if (value === 0) return 0;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const copy: { [key: string]: StrictValue } = {};
  for (const key of sortedKeys(value)) setMember(copy, key, inOrder(value[key] as StrictValue));
  return copy;
};

/** A copy that shares no object with the value. */
export const copyOf = (value: StrictValue): StrictValue => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const copy: { [key: string]: StrictValue } = {};
  for (const key of Object.keys(value)) setMember(copy, key, copyOf(value[key] as StrictValue));
  return copy;
};

/** Assignment would call the prototype setter for "__proto__"; a definition makes an own property. */
const setMember = (object: { [key: string]: StrictValue }, key: string, value: StrictValue): void => {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
};

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const SPACE_CODE_MAX = 0x20;
/** Everything up to a quote, a backslash or a character that JSON forbids inside a string. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Reader {
  readonly #text: string;
  readonly #depthMax: number;
  #at = 0;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  document(): StrictValue {
    this.#space();
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#invalid('unexpected text after the end of the value');
    return value;
  }

  #value(depth: number): StrictValue {
    if (depth > this.#depthMax)
      throw new Refusal('too-deep', `nested deeper than ${this.#depthMax} levels`, this.#at);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case undefined:
        throw this.#invalid('the text ends where a value should stand');
      default:
        return this.#number();
    }
  }

  #object(depth: number): StrictValue {
    const object: { [key: string]: StrictValue } = {};
    this.#at++;
    this.#space();
    if (this.#take('}')) return object;
    for (;;) {
      const keyAt = this.#at;
      if (this.#text[this.#at] !== '"') throw this.#invalid('expected a key in double quotes');
      const key = this.#string();
      if (Object.hasOwn(object, key))
        throw new Refusal('duplicate-key', `the key ${JSON.stringify(key)} stands twice`, keyAt);
      this.#space();
      if (!this.#take(':')) throw this.#invalid('expected ":" after the key');
      this.#space();
      const value = this.#value(depth + 1);
      setMember(object, key, value);
      this.#space();
      if (this.#take('}')) return object;
      if (!this.#take(',')) throw this.#invalid('expected "," or "}"');
      this.#space();
    }
  }

  #array(depth: number): StrictValue {
    const items: StrictValue[] = [];
    this.#at++;
    this.#space();
    if (this.#take(']')) return items;
    for (;;) {
      items.push(this.#value(depth + 1));
      this.#space();
      if (this.#take(']')) return items;
      if (!this.#take(',')) throw this.#invalid('expected "," or "]"');
      this.#space();
    }
  }

  #string(): string {
    const start = this.#at++;
    let text = '';
    for (;;) {
      const from = this.#at;
      this.#pass(PLAIN);
      text += this.#text.slice(from, this.#at);
      const mark = this.#text[this.#at];
      if (mark === '"') break;
      if (mark !== '\\')
        throw this.#invalid(mark === undefined ? 'a string has no end' : 'a control character in a string');
      text += this.#escape();
    }
    this.#at++;
    if (!text.isWellFormed())
      throw new Refusal('not-well-formed', 'a string holds half of a surrogate pair', start);
    return text;
  }

  #escape(): string {
    const mark = this.#text[this.#at + 1] ?? '';
    const plain = ESCAPES[mark];
    if (plain !== undefined) {
      this.#at += 2;
      return plain;
    }
    const hex = this.#text.slice(this.#at + 2, this.#at + 6);
    if (mark !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) throw this.#invalid('an unknown escape in a string');
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  #number(): number | bigint {
    const at = this.#at;
    NUMBER.lastIndex = at;
    const found = NUMBER.exec(this.#text);
    if (!found) throw this.#invalid(`unexpected character ${JSON.stringify(this.#text[at])}`);
    const [token, fraction, exponent] = found;
    this.#at += token.length;
    const value = Number(token);
    if (fraction === undefined && exponent === undefined) {
      if (Number.isSafeInteger(value)) return value;
      if (token.length > DIGITS_MAX)
        throw new Refusal('number-not-exact', `a number has more than ${DIGITS_MAX} digits`, at);
      return BigInt(token);
    }
    const whole = wholeNumber(token);
    if (whole !== undefined && !Number.isSafeInteger(value)) return whole;
    if (!Number.isFinite(value) || decimal(token) !== decimal(String(value)))
      throw new Refusal(
        'number-not-exact',
        `the number ${token.slice(0, 60)} cannot be held exactly; send it as a string`,
        at,
      );
    return value;
  }

  #word<T extends StrictValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#invalid(`expected ${word}`);
    this.#at += word.length;
    return value;
  }

  #space(): void {
    // Most texts have none, and every white space of JSON is below "!".
    if (this.#text.charCodeAt(this.#at) <= SPACE_CODE_MAX) this.#pass(SPACE);
  }

  /** Passes what the pattern matches here, which may be nothing. */
  #pass(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    if (pattern.test(this.#text)) this.#at = pattern.lastIndex;
  }

  #take(mark: string): boolean {
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #invalid(what: string): Refusal {
    return new Refusal('invalid-json', `${what}, at character ${this.#at + 1}`, this.#at);
  }
}

/** The whole number that a token with a fraction or an exponent stands for, where it stands for one. */
const wholeNumber = (token: string): bigint | undefined => {
  const [digits = '', power = ''] = decimal(token).split('e');
  const zeros = Number(power);
  if (power === '' || zeros < 0 || zeros + digits.length > DIGITS_MAX) return undefined;
  return BigInt(digits) * 10n ** BigInt(zeros);
};

/** A decimal token as sign, digits without outer zeros, and power of ten: equal strings, equal numbers. */
const decimal = (token: string): string => {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token);
  if (!found) return token;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const digits = (whole + fraction).replace(/^0+/, '');
  const bare = digits.replace(/0+$/, '');
  if (bare === '') return '0';
  return `${sign}${bare}e${Number(exponent) - fraction.length + (digits.length - bare.length)}`;
};
