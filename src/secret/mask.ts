/**
 * Takes secrets out of what is stored or printed. A mask knows the values of one call and finds them in the forms
 * in which servers, URLs and error messages repeat them.
 */

/** Shorter values cannot be told from ordinary text, so masking them would wreck every answer. */
export const SECRET_CHARS_MIN = 6;

const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/** Base64 of the value wherever it starts in a longer text: only the characters that depend on it alone. */
const base64Forms = (value: string): readonly string[] =>
  [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    const whole = Math.floor(bytes.length / 3) * 4;
    const text = bytes.toString('base64').slice(shift === 0 ? 0 : shift + 1, whole);
    const forms = shift === 0 ? [bytes.toString('base64'), text] : [text];
    return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  });

/** A header value such as "Bearer abc" is known without its scheme too, and a "Basic" one unpacked. */
const partsOf = (value: string): readonly string[] => {
  const [, scheme = '', token = ''] = /^([A-Za-z][A-Za-z0-9-]*) +(\S.*)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, token];
  const pair = Buffer.from(token, 'base64').toString('utf8');
  return [value, token, pair, pair.slice(pair.indexOf(':') + 1)];
};

const formsOf = (value: string): readonly string[] => {
  const encoded = encodeURIComponent(value);
  const inQuery = new URL(`http://x/?${encoded}`).search.slice(1);
  const url = [encoded, inQuery, encodeURI(value), encoded.replaceAll('%20', '+')];
  const hex = Buffer.from(value).toString('hex');
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return [
    value,
    // Hosts and schemes come back in lower case.
    value.toLowerCase(),
    ...url,
    ...url.map(lowerHex),
    JSON.stringify(value).slice(1, -1),
    html,
    hex,
    hex.toUpperCase(),
    ...base64Forms(value),
  ].filter((form) => form.length >= SECRET_CHARS_MIN);
};

export class SecretMask {
  #forms: { readonly form: string; readonly name: string }[] = [];

  constructor(secrets: readonly { readonly name: string; readonly value: string }[]) {
    for (const { name, value } of secrets) this.add(name, value);
  }

  /** `value` may be a secret or a whole header value that holds one. */
  add(name: string, value: string): void {
    const known = new Set(this.#forms.map(({ form }) => form));
    const values = partsOf(value).filter((part) => part.length >= SECRET_CHARS_MIN);
    for (const form of new Set(values.flatMap(formsOf)))
      if (!known.has(form)) this.#forms.push({ form, name });
    this.#forms.sort((a, b) => b.form.length - a.form.length);
  }

  /** The text with every known value replaced by `[secret NAME]`. */
  apply(text: string): string {
    let masked = text;
    for (const { form, name } of this.#forms) masked = masked.replaceAll(form, `[secret ${name}]`);
    return masked;
  }

  /** How many characters at the end of a text may be the beginning of a secret: more has to come before they are shown. */
  unsureAtEnd(text: string): number {
    let most = 0;
    for (const { form } of this.#forms)
      for (let length = Math.min(form.length - 1, text.length); length > most; length--)
        if (text.endsWith(form.slice(0, length))) most = length;
    return most;
  }

  foundIn(bytes: Uint8Array): boolean {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#forms.some(({ form }) => buffer.includes(form));
  }
}
