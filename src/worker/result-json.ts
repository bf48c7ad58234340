/** A tool's return value as JSON text that loses nothing, or the place where it cannot be written. */

const DEPTH_MAX = 100;
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
 * Cycles, functions, NaN and invalid dates throw NotSerializable: JSON.stringify would turn them into null or {}.
 */
export const resultJson = (value: unknown): string => {
  try {
    return write(value, '', []) ?? 'null';
  } catch (error) {
    if (error instanceof NotSerializable) throw error;
    // A getter, a toJSON or a proxy of the tool's has thrown.
    throw new NotSerializable('', 'cannot be read');
  }
};

const write = (value: unknown, path: string, above: readonly object[]): string | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'bigint':
      return value.toString();
    case 'number':
      if (!Number.isFinite(value)) throw new NotSerializable(path, `is ${value}, which JSON cannot say`);
      return JSON.stringify(value);
    case 'undefined':
      return undefined;
    case 'object':
      return value === null ? 'null' : writeObject(value, path, above);
    default:
      throw new NotSerializable(path, `is a ${typeof value}, which JSON cannot say`);
  }
};

const writeObject = (value: object, path: string, above: readonly object[]): string => {
  if (above.includes(value)) throw new NotSerializable(path, 'refers back to itself');
  if (above.length >= DEPTH_MAX) throw new NotSerializable(path, `is nested deeper than ${DEPTH_MAX} levels`);
  const inside = [...above, value];
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new NotSerializable(path, 'is an invalid date');
    return JSON.stringify(value.toISOString());
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return JSON.stringify(`[${value.byteLength} bytes]`);
  if (value instanceof Error) return JSON.stringify({ error: value.name, message: value.message });
  if (Array.isArray(value)) return writeItems(value, path, inside);
  if (value instanceof Set) return writeItems([...value], path, inside);
  if (value instanceof Map) return writeMap(value, path, inside);
  const own = (value as { toJSON?: unknown }).toJSON;
  if (typeof own === 'function') return write(own.call(value), path, inside) ?? 'null';
  return writeMembers(Object.entries(value), path, inside);
};

const writeItems = (items: readonly unknown[], path: string, above: readonly object[]): string =>
  `[${Array.from(items, (item, i) => write(item, `${path}[${i}]`, above) ?? 'null').join(',')}]`;

const writeMap = (map: ReadonlyMap<unknown, unknown>, path: string, above: readonly object[]): string => {
  const entries = [...map];
  if (entries.every((entry): entry is [string, unknown] => typeof entry[0] === 'string'))
    return writeMembers(entries, path, above);
  return writeItems(entries, path, above);
};

const writeMembers = (
  entries: readonly (readonly [string, unknown])[],
  path: string,
  above: readonly object[],
): string => {
  const members: string[] = [];
  for (const [key, member] of entries) {
    const text = write(member, `${path}.${key}`, above);
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
};
