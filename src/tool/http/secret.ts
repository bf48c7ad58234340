/** Secrets in requests: put in on the wire only, and taken out of everything that is handed back. */
import { badInput } from '../../errors.ts';
import { SECRET_CHARS_MIN, SecretMask } from '../../secret/mask.ts';
import type { Admitted, AllowedOrigin } from './allow.ts';
import { refuse, SECRET_NAME } from './allow.ts';

/** A plain value is enough while one origin is allowed; with several, say which may be sent it. */
export type HttpSecret = string | { readonly value: string; readonly origins: readonly string[] };

export type BoundSecret = {
  readonly name: string;
  readonly value: string;
  readonly origins: readonly string[];
};

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
