/**
 * http.get: reads a page or a document from a listed origin. Never sends anything but the URL and two
 * harmless headers of the model's choosing.
 */
import { z } from 'zod';
import { type Clock, systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import { SecretMask } from '../../secret/mask.ts';
import { content, type ToolContent } from '../content.ts';
import type { Preview } from '../preview.ts';
import { tool, type Tool, type ToolContext, ToolError } from '../tool.ts';
import {
  admit,
  type AllowedOrigin,
  type HttpAllow,
  isHomeOf,
  quote,
  readAllow,
  refuse,
  URL_CHARS_MAX,
} from './allow.ts';
import { decodeText } from './charset.ts';
import { type Dial, type Resolve, systemDial, systemResolve } from './connect.ts';
import { type Answer, follow, type Hop } from './hop.ts';
import { htmlToText, type HtmlLink } from './html.ts';
import { type BoundSecret, type HttpSecret, putIn, readSecrets } from './secret.ts';

export type HttpLimits = {
  /** Decoded bytes of a body. Default 1 MiB. */
  readonly bodyBytes?: number;
  /** Milliseconds for all hops together. Default 20,000. */
  readonly timeMs?: number;
};

export type HttpToolOptions = {
  readonly allow: readonly HttpAllow[];
  /** Values that a URL may name as `{NAME}` in its query. They are on the wire only, never in the record. */
  readonly secrets?: Readonly<Record<string, HttpSecret>>;
  /** Default "http.get". */
  readonly name?: string;
  readonly limits?: HttpLimits;
  /** Marks results as private. Default: where a credential, a secret or a private address is configured. */
  readonly private?: boolean;
  /** Seams for tests: how names become addresses, how a connection is opened, what time it is. */
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  readonly clock?: Clock;
};

/** The JSON part of a result; the original bytes are a part of their own beside it. */
export type HttpResult = {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly title?: string;
  /** Empty for a document that is not text. */
  readonly text: string;
  readonly links?: readonly HtmlLink[];
  readonly note?: string;
  /** Decoded bytes of the body. */
  readonly bytes: number;
  readonly hops: readonly Hop[];
};

const HTTP_BODY_BYTES_MAX = 1_048_576;
const HTTP_TIME_MS_MAX = 20_000;
/** The tool's own deadline comes first, so that the model reads which hop was slow. */
const TOOL_TIMEOUT_EXTRA_MS = 5_000;
const HEADER_VALUE_CHARS_MAX = 256;
const CALLER_HEADERS: readonly string[] = ['accept', 'accept-language'];
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-ndjson|yaml|x-yaml|csv|toml)$)/;

const input = z.strictObject({
  url: z.string().describe('Absolute URL of an allowed origin.'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Only "accept" and "accept-language". Credentials are added by configuration.'),
});
type Input = z.output<typeof input>;

type Settings = {
  readonly allow: readonly AllowedOrigin[];
  readonly secrets: readonly BoundSecret[];
  readonly bodyBytes: number;
  readonly timeMs: number;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly clock: Clock;
};

/** Errors: header-not-allowed, header-invalid. */
const callerHeaders = (given: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [written, value] of Object.entries(given)) {
    const header = written.toLowerCase();
    if (!CALLER_HEADERS.includes(header))
      throw refuse(
        'header-not-allowed',
        `The header ${quote(written)} cannot be set. Only ${CALLER_HEADERS.join(' and ')} can; ` +
          'credentials are added by configuration.',
        { header: written.slice(0, HEADER_VALUE_CHARS_MAX), allowed: CALLER_HEADERS },
      );
    if (
      Object.hasOwn(headers, header) ||
      value.length > HEADER_VALUE_CHARS_MAX ||
      !/^[\x20-\x7e]*$/.test(value)
    )
      throw refuse(
        'header-invalid',
        `The header "${header}" must be given once, in printable ASCII, with at most ${HEADER_VALUE_CHARS_MAX} characters.`,
        { header },
      );
    headers[header] = value;
  }
  return headers;
};

const maskedJson = (json: Json | undefined, mask: SecretMask): Json => {
  if (typeof json === 'string') return mask.apply(json);
  if (Array.isArray(json)) return json.map((item: Json) => maskedJson(item, mask));
  if (isJsonObject(json))
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, maskedJson(value, mask)]));
  return (json as Json) ?? null;
};

/** An error of one call with every secret taken out of its words and facts. */
const masked = (error: ToolError, mask: SecretMask): ToolError =>
  new ToolError(mask.apply(error.message), {
    code: error.code,
    happened: error.happened,
    retryable: error.retryable,
    details: maskedJson(error.details, mask) as JsonObject,
  });

const mediaType = (header: string | undefined): { type: string; charset: string | undefined } => {
  const [type = '', ...parameters] = (header ?? '').split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]{1,40})"?\s*$/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset };
};

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
};

/** Links as absolute http, https and mailto addresses; anything else is left out. */
const absolute = (links: readonly HtmlLink[], base: URL): readonly HtmlLink[] =>
  links.flatMap(({ text, href }) => {
    const url = URL.parse(href, base.href);
    return url && /^(?:https?|mailto):$/.test(url.protocol) ? [{ text, href: url.href }] : [];
  });

const readable = (answer: Answer): Pick<HttpResult, 'type' | 'text' | 'title' | 'links' | 'note'> => {
  const { type, charset } = mediaType(answer.type);
  const textual = type === '' ? isUtf8(answer.bytes) : TEXT_TYPE.test(type);
  if (!textual)
    return {
      type: type || 'application/octet-stream',
      text: '',
      note: 'Not text. The bytes are kept as they came.',
    };
  const html = type === 'text/html' || type === 'application/xhtml+xml';
  const { text, note } = decodeText(answer.bytes, charset, html || type.endsWith('xml'));
  const rest = note === undefined ? {} : { note };
  if (!html) return { type: type || 'text/plain', text, ...rest };
  const page = htmlToText(text);
  const links = absolute(page.links, answer.base);
  return {
    type,
    ...(page.title !== '' && { title: page.title }),
    text: page.text,
    ...(links.length > 0 && { links }),
    ...rest,
  };
};

/** The bytes are left out of a result where they hold a secret: a record keeps no secret. */
const encode = (answer: Answer, mask: SecretMask): ToolContent => {
  const plain = readable(answer);
  const held = mask.foundIn(answer.bytes) || mask.apply(plain.text) !== plain.text;
  const notes = [
    ...(plain.note === undefined ? [] : [plain.note]),
    ...(held ? ['The answer repeats a secret, which is masked. The original bytes were not kept.'] : []),
  ];
  const result: HttpResult = {
    url: answer.url,
    status: answer.status,
    type: mask.apply(plain.type),
    ...(plain.title !== undefined && { title: mask.apply(plain.title) }),
    text: mask.apply(plain.text),
    ...(plain.links && {
      links: plain.links.map(({ text, href }) => ({ text: mask.apply(text), href: mask.apply(href) })),
    }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
    bytes: answer.bytes.length,
    hops: answer.hops,
  };
  const json = { kind: 'json', value: result } as const;
  if (held || answer.bytes.length === 0) return content(json);
  return content(json, { kind: 'bytes', bytes: answer.bytes, type: result.type });
};

const get = async (
  { url, headers }: Input,
  context: ToolContext,
  settings: Settings,
): Promise<ToolContent> => {
  const mask = new SecretMask(settings.secrets);
  const deadline = new AbortController();
  const timer = settings.clock.after(settings.timeMs, () => deadline.abort());
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  const hops: Hop[] = [];
  try {
    const net = { ...settings, mask, signal, log: context.log, bytesMax: settings.bodyBytes, hops };
    return encode(await follow(url, callerHeaders(headers), net), mask);
  } catch (error) {
    context.signal.throwIfAborted();
    if (deadline.signal.aborted)
      throw new ToolError(`No complete answer within ${settings.timeMs} ms. Try again later.`, {
        code: 'timeout',
        retryable: true,
        details: { limitMs: settings.timeMs, hop: hops.length + 1 },
      });
    throw error instanceof ToolError ? masked(error, mask) : error;
  } finally {
    timer.cancel();
  }
};

/** What would be sent, as far as it is known without asking the network. Refuses what can never run. */
const preview = ({ url, headers }: Input, { allow, secrets }: Settings): Preview => {
  const mask = new SecretMask(secrets);
  try {
    const admitted = admit(url, allow, 1);
    const shown = mask.apply(putIn(admitted, secrets).href);
    const { credential } = admitted.entry;
    const own = Object.entries(callerHeaders(headers));
    const added: [string, string][] =
      credential && isHomeOf(admitted.entry, admitted)
        ? [[credential.header, `[secret ${credential.name}]`]]
        : [];
    return {
      title: 'Read a web address. Nothing is sent but the request.',
      target: admitted.host,
      blocks: [{ kind: 'http', method: 'GET', url: shown, headers: [...own, ...added] }],
    };
  } catch (error) {
    throw error instanceof ToolError ? masked(error, mask) : error;
  }
};

const positive = (name: string, what: string, value: number): number => {
  if (!Number.isInteger(value) || value < 1)
    throw badInput('tool-invalid', `Tool "${name}": ${what} ${value} must be a whole number above 0.`, {
      tool: name,
    });
  return value;
};

const describe = (allow: readonly AllowedOrigin[], secrets: readonly BoundSecret[]): string => {
  const origins = allow.map(({ origin, ports }) => [origin, ...(ports ?? [])].join(', also port '));
  const names = secrets.map(({ name, origins: to }) => `{${name}} for ${to.join(', ')}`);
  return (
    'Reads a web address with GET and returns its text, title and links. ' +
    `Allowed origins: ${origins.join('; ') || 'none'}. URLs have at most ${URL_CHARS_MAX} characters.` +
    (names.length > 0 ? ` Secrets that the query of a URL may name: ${names.join('; ')}.` : '')
  );
};

/** The HTTP tools of an agent: `http.get`. Throws `tool-invalid` for a wrong configuration. */
export const httpTools = (options: HttpToolOptions): Tool[] => {
  const name = options.name ?? 'http.get';
  const allow = readAllow(name, options.allow);
  const settings: Settings = {
    allow,
    secrets: readSecrets(name, options.secrets ?? {}, allow),
    bodyBytes: positive(name, 'limits.bodyBytes', options.limits?.bodyBytes ?? HTTP_BODY_BYTES_MAX),
    timeMs: positive(name, 'limits.timeMs', options.limits?.timeMs ?? HTTP_TIME_MS_MAX),
    resolve: options.resolve ?? systemResolve,
    dial: options.dial ?? systemDial,
    clock: options.clock ?? systemClock,
  };
  const guarded = allow.some((entry) => entry.credential !== undefined || entry.allowPrivate === true);
  return [
    tool<Input>({
      name,
      description: describe(allow, settings.secrets),
      inputSchema: input,
      effect: 'none',
      egress: true,
      timeoutMs: settings.timeMs + TOOL_TIMEOUT_EXTRA_MS,
      labels: { untrusted: true, private: options.private ?? (guarded || settings.secrets.length > 0) },
      preview: (given) => preview(given, settings),
      execute: (given, context) => get(given, context, settings),
    }),
  ];
};
