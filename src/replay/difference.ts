/** The first place where two values differ, in canonical order. */
import { isSame } from '../event/canonical.ts';
import { isJsonObject, type Json } from '../event/json.ts';

export type Difference = {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
};

export const firstDifference = (recorded: Json, now: Json): Difference => walk(recorded, now, '');

const walk = (recorded: Json | undefined, now: Json | undefined, path: string): Difference => {
  const here = { path, recorded, now };
  if (recorded === undefined || now === undefined) return here;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const at = Array.from({ length: Math.max(recorded.length, now.length) }).findIndex(
      (_, i) => !isSame(recorded[i] as Json | undefined, now[i] as Json | undefined),
    );
    return at < 0
      ? here
      : walk(recorded[at] as Json | undefined, now[at] as Json | undefined, `${path}/${at}`);
  }
  if (isJsonObject(recorded) && isJsonObject(now)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(now)])].sort();
    const key = keys.find((name) => !isSame(recorded[name], now[name]));
    if (key === undefined) return here;
    return walk(recorded[key], now[key], `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
  return here;
};
