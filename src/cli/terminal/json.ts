/** JSON for stdout: the same value, in characters that no terminal acts on or hides. */

/** What JSON leaves raw although it is hidden or a control. */
const RAW_IN_JSON = /[\u007F-\u009F\u2800\uFFF9-\uFFFB\p{NChar}\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}\p{Co}]/gv;

const escapeUnits = (character: string): string => {
  let escaped = '';
  for (let at = 0; at < character.length; at++)
    escaped += String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
};

export const safeJson = (value: unknown, indent: number = 0): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(RAW_IN_JSON, escapeUnits);
