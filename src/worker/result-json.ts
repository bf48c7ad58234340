/** A tool's return value as JSON text that loses nothing, or the place where it cannot be written. */

const DEPTH_MAX = 100;
/** Of an iterable that is no list, map or set. */
const ITEMS_MAX = 100_000;
/** Characters of a path that are named. */
const PATH_LENGTH_MAX = 24;

export class NotSerializable extends Error {
  override readonly name = 'NotSerializable';
  /** ".rows[3].owner"; empty for the value itself. */
  readonly path: string;
  constructor(path: string, what: string) {
    const place = path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…`.toWellFormed() : path;
    super(`the result ${place === '' ? '' : `at ${place} `}${what}`);
    this.path = path;
  }
}

/**
 * Digits of BigInt are kept; Map and Set become objects and arrays; Date becomes ISO 8601; bytes become a note.
 * Cycles, functions, NaN, invalid dates and objects that show nothing (a promise, a generator) throw
 * NotSerializable: JSON.stringify would turn them into null or {}.
 */
export const resultJson = (value: unknown): string => {
  try {
    if (isPlainData(value, DEPTH_MAX)) return JSON.stringify(value);
    return new Writer().write(value) ?? 'null';
  } catch (error) {
    if (error instanceof NotSerializable) throw error;
    // A getter, a toJSON or a proxy of the tool's has thrown.
    throw new NotSerializable('', 'cannot be read');
  }
};

/**
 * Plain objects, arrays and what JSON can say: JSON.stringify loses nothing of them, and is many times as fast as the
 * writer, which takes all the rest.
 */
const isPlainData = (value: unknown, depth: number): boolean => {
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
  // A cycle ends here, too.
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isPlainData(item, depth - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value))
    if (!isPlainData((value as Record<string, unknown>)[key], depth - 1)) return false;
  return true;
};

class Writer {
  /** Keys and indexes that lead to the value in hand. */
  readonly #path: (string | number)[] = [];
  /** The objects that it lies in. */
  readonly #above: object[] = [];

  /** Undefined for what an object leaves out. */
  write(value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return JSON.stringify(value);
      case 'bigint':
        return value.toString();
      case 'number':
        if (!Number.isFinite(value)) throw this.#problem(`is ${value}, which JSON cannot say`);
        return JSON.stringify(value);
      case 'undefined':
        return undefined;
      case 'object':
        return value === null ? 'null' : this.#object(value);
      default:
        throw this.#problem(`is a ${typeof value}, which JSON cannot say`);
    }
  }

  #problem(what: string): NotSerializable {
    const keys = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
    return new NotSerializable(keys.join(''), what);
  }

  #object(value: object): string {
    if (this.#above.includes(value)) throw this.#problem('refers back to itself');
    if (this.#above.length >= DEPTH_MAX) throw this.#problem(`is nested deeper than ${DEPTH_MAX} levels`);
    this.#above.push(value);
    const text = this.#inside(value);
    this.#above.pop();
    return text;
  }

  #inside(value: object): string {
    if (Array.isArray(value)) return this.#items(value);
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw this.#problem('is an invalid date');
      return JSON.stringify(value.toISOString());
    }
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return JSON.stringify(`[${value.byteLength} bytes]`);
    if (value instanceof Error) return JSON.stringify({ error: value.name, message: value.message });
    if (value instanceof Set) return this.#items([...value]);
    if (value instanceof Map) return this.#map(value);
    const own = (value as { toJSON?: unknown }).toJSON;
    if (typeof own === 'function') return this.write(own.call(value)) ?? 'null';
    const members = Object.entries(value);
    if (members.length > 0 || isPlain(value)) return this.#members(members);
    // Boxed: a number or a truth value as an object.
    const unboxed: unknown = value.valueOf();
    if (unboxed !== null && typeof unboxed !== 'object') return this.write(unboxed) ?? 'null';
    if (value instanceof RegExp) return JSON.stringify(String(value));
    if (Symbol.iterator in value && !('next' in value)) return this.#iterated(value as Iterable<unknown>);
    // What it holds lies where nobody can look: {} would say that it holds nothing.
    throw this.#problem(`is an object (${nameOf(value)}) that shows nothing of what it holds`);
  }

  /** Headers, search parameters and the like. */
  #iterated(value: Iterable<unknown>): string {
    const items: unknown[] = [];
    for (const item of value) {
      if (items.length >= ITEMS_MAX) throw this.#problem(`has more than ${ITEMS_MAX} items`);
      items.push(item);
    }
    return this.#items(items);
  }

  #items(items: readonly unknown[]): string {
    let text = '[';
    for (let i = 0; i < items.length; i++) {
      this.#path.push(i);
      text += (i === 0 ? '' : ',') + (this.write(items[i]) ?? 'null');
      this.#path.pop();
    }
    return text + ']';
  }

  #map(map: ReadonlyMap<unknown, unknown>): string {
    const entries = [...map];
    if (entries.every((entry): entry is [string, unknown] => typeof entry[0] === 'string'))
      return this.#members(entries);
    return this.#items(entries);
  }

  #members(entries: readonly (readonly [string, unknown])[]): string {
    let text = '{';
    for (const [key, member] of entries) {
      this.#path.push(key);
      const written = this.write(member);
      this.#path.pop();
      if (written !== undefined) text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${written}`;
    }
    return text + '}';
  }
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const nameOf = (value: object): string => {
  const { constructor } = value as { readonly constructor?: { readonly name?: unknown } };
  return typeof constructor?.name === 'string'
    ? constructor.name.slice(0, PATH_LENGTH_MAX)
    : 'without a name';
};
