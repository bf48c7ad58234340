/** Headers by allow lists: what is sent to a provider, and what of both sides is kept on record. */
import type { Credential } from './credential.ts';

/** Characters of one kept header, and how many are kept. */
const HEADER_CHARS_MAX = 500;
const HEADERS_MAX = 50;

/** What an SDK may send. Others (an SDK reads further ones from the environment) come from the user of the model only. */
const SENT = /^(accept|content-type|user-agent|anthropic-(version|beta)|openai-(organization|project|beta))$/;
const SENT_KEPT = /^(anthropic-(version|beta)|openai-(organization|project|beta))$/;
const RECEIVED_KEPT =
  /^(content-type|date|retry-after|retry-after-ms|x-should-retry|(x-)?request-id|(anthropic|x)-ratelimit-[a-z0-9-]+|openai-(version|processing-ms|model))$/;
/** A user's further headers must not bring a second credential. */
const CREDENTIAL = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/;

type Outgoing = {
  readonly credential: Credential | undefined;
  readonly auth: 'bearer' | 'x-api-key' | undefined;
  readonly extra: Readonly<Record<string, string>> | undefined;
  readonly origin: string;
};

/** The headers of a request: the SDK's, the user's, and the credential in its one place. */
export const outgoing = (made: Headers, { credential, auth, extra, origin }: Outgoing): Headers => {
  const headers = new Headers();
  for (const [name, value] of made) if (SENT.test(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(extra ?? {}))
    if (!CREDENTIAL.test(name.toLowerCase())) headers.set(name, value);
  // The bytes that are kept are the bytes that came.
  headers.set('accept-encoding', 'identity');
  if (!credential) return headers;
  const value = credential.reveal(origin);
  if (auth === 'x-api-key') headers.set('x-api-key', value);
  else headers.set('authorization', `Bearer ${value}`);
  return headers;
};

const kept = (headers: Headers | undefined, names: RegExp): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...(headers ?? [])]
      .filter(([name]) => names.test(name))
      .slice(0, HEADERS_MAX)
      .map(([name, value]) => [name, value.slice(0, HEADER_CHARS_MAX)]),
  );

export const sentHeaders = (headers: Headers | undefined): Readonly<Record<string, string>> =>
  kept(headers, SENT_KEPT);

export const receivedHeaders = (headers: Headers | undefined): Readonly<Record<string, string>> =>
  kept(headers, RECEIVED_KEPT);
