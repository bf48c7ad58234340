/** Asks a provider for its list of models: whether it is there, takes the credential and knows a model. Costs nothing. */
import type { Clock } from '../../clock.ts';
import { isOnrecordError } from '../../errors.ts';
import type { RequestProblemKind } from '../../event/events.ts';
import { SecretMask } from '../../secret/mask.ts';
import type { Credential } from './credential.ts';
import { outgoing } from './headers.ts';
import { httpProblem } from './problem.ts';
import type { Provider } from './provider.ts';
import { systemFetch } from './system-fetch.ts';

export const PROBE_MS = 15_000;
export const PROBE_BYTES_MAX: number = 8 * 1024 * 1024;

export type Probed =
  /** `models` as the provider lists them; empty where it lists none. */
  | { readonly kind: 'answers'; readonly ms: number; readonly models: readonly string[] }
  | { readonly kind: 'fails'; readonly problem: RequestProblemKind; readonly message: string };

/** Never throws. `credential` is the one that the provider's connection found, if it wants one. */
export const probe = async (
  provider: Provider,
  credential: Credential | undefined,
  clock: Clock,
): Promise<Probed> => {
  const mask = credential?.mask() ?? new SecretMask([]);
  const stop = new AbortController();
  const timer = clock.after(PROBE_MS, () => stop.abort(new Error(`no answer within ${PROBE_MS} ms`)));
  const began = clock.monotonic();
  try {
    const { status, headers, text } = await ask(provider, credential, stop.signal);
    if (status !== 200) {
      const { kind, message } = httpProblem({ status, headers, body: text }, clock.now());
      return { kind: 'fails', problem: kind, message: mask.apply(message) };
    }
    return { kind: 'answers', ms: Math.round(clock.monotonic() - began), models: idsIn(text) };
  } catch (thrown) {
    const kind = isOnrecordError(thrown) ? 'authentication' : 'unavailable';
    return { kind: 'fails', problem: kind, message: mask.apply(innermost(thrown)) };
  } finally {
    timer.cancel();
  }
};

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

const ask = async (
  { connection, probe: { path, headers } }: Provider,
  credential: Credential | undefined,
  signal: AbortSignal,
): Promise<Answer> => {
  const { baseUrl, auth } = connection;
  const { origin } = new URL(baseUrl);
  const sent = outgoing(new Headers(headers), { credential, auth, extra: connection.headers, origin });
  const send = connection.fetch ?? systemFetch;
  const response = await send(baseUrl + path, { method: 'GET', headers: sent, redirect: 'manual', signal });
  return { status: response.status, headers: response.headers, text: await textOf(response) };
};

const textOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > PROBE_BYTES_MAX) throw new Error(`the list of models has more than ${PROBE_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** `{data: [{id}]}`, the form of all of them. */
const idsIn = (text: string): readonly string[] => {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    const rows = Array.isArray(data) ? (data as readonly ({ id?: unknown } | null)[]) : [];
    return rows.flatMap((row) => (typeof row?.id === 'string' ? [row.id] : []));
  } catch {
    return [];
  }
};

const innermost = (thrown: unknown): string => {
  let at: unknown = thrown;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof Error && at.message !== '' ? at.message : 'no connection';
};
