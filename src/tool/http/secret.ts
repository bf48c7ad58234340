/**
 * Secrets in requests: put in on the wire only, and taken out of everything that is handed back. A mask
 * knows the values of one call and finds them in the forms in which servers and URLs repeat them.
 */
import { badInput } from '../../errors.ts';
import type { Admitted, AllowedOrigin } from './allow.ts';
import { refuse, SECRET_NAME } from './allow.ts';

/** A plain value is enough while one origin is allowed; with several, say which may be sent it. */
export type HttpSecret = string | { readonly value: string; readonly origins: readonly string[] };

export type BoundSecret = {
  readonly name: string;
  readonly value: string;
  readonly origins: readonly string[];
};

/** Shorter values cannot be told from ordinary text, so masking them would wreck every answer. */
export const SECRET_CHARS_MIN = 6;

export const readSecrets = (
  tool: string,
  secrets: Readonly<Record<string, HttpSecret>>,
  allow: readonly AllowedOrigin[],
): readonly BoundSecret[] =>
  Object.entries(secrets).map(([name, secret]) => {
    const fail = (what: string): never => {
      throw badInput('tool-invalid', `Tool "${tool}", secret "${name}": ${what}.`, { tool, secret: name });
    };
    if (!SECRET_NAME.test(name)) fail('the name must be A-Z, 0-9 and "_", starting with a letter');
    const value = typeof secret === 'string' ? secret : secret.value;
    if (value.length < SECRET_CHARS_MIN) fail(`the value has fewer than ${SECRET_CHARS_MIN} characters`);
    const known = [...new Set(allow.map((entry) => entry.origin))];
    if (typeof secret === 'string') {
      if (known.length !== 1)
        fail('several origins are allowed; name those that may be sent it in "origins"');
      return { name, value, origins: known };
    }
    const origins = secret.origins.map((origin) => URL.parse(origin)?.origin ?? origin);
    for (const origin of origins)
      if (!known.includes(origin)) fail(`the origin "${origin}" is not on the allow list`);
    return { name, value, origins };
  });

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

  constructor(secrets: readonly BoundSecret[]) {
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

  foundIn(bytes: Uint8Array): boolean {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#forms.some(({ form }) => buffer.includes(form));
  }
}

const PLACEHOLDER = /(?:\{|%7B)([A-Z][A-Z0-9_]*)(?:\}|%7D)/gi;

/**
 * The URL for the wire: `{NAME}` in the query becomes the value. Only for the URL of the call; a redirect
 * never gets to choose a secret. Errors: secret-misplaced, secret-not-for-origin.
 */
export const putIn = (admitted: Admitted, secrets: readonly BoundSecret[]): URL => {
  const url = new URL(admitted.url);
  const find = (name: string): BoundSecret | undefined => secrets.find((secret) => secret.name === name);
  for (const [, name = ''] of url.pathname.matchAll(PLACEHOLDER))
    if (find(name))
      throw refuse(
        'secret-misplaced',
        `"{${name}}" stands in the path. A secret can only be a part of the query, after "?".`,
        { secret: name },
      );
  url.search = url.search.replace(PLACEHOLDER, (whole, name: string) => {
    const secret = find(name);
    if (!secret) return whole;
    if (!secret.origins.includes(url.origin))
      throw refuse(
        'secret-not-for-origin',
        `The secret ${name} may not be sent to "${url.origin}". It belongs to ${secret.origins.join(', ')}.`,
        { secret: name, origin: url.origin },
      );
    return encodeURIComponent(secret.value);
  });
  return url;
};

/** A redirect that repeats a secret towards an origin that is not the secret's is not followed. */
export const checkRedirect = (admitted: Admitted, secrets: readonly BoundSecret[], hop: number): void => {
  const { href, origin } = admitted.url;
  for (const secret of secrets)
    if (!secret.origins.includes(origin) && new SecretMask([secret]).apply(href) !== href)
      throw refuse(
        'secret-not-for-origin',
        `A redirect would carry the secret ${secret.name} to "${origin}", where it does not belong.`,
        { secret: secret.name, origin, hop },
      );
};
