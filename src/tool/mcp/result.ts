/** What a server answered to tools/call, as a tool's result or as what the call failed with. Every field is mapped. */
import { parseStrict } from '../../event/strict.ts';
import type { SecretMask } from '../../secret/mask.ts';
import { ToolContent, type ContentPart } from '../content.ts';
import { ToolError } from '../tool.ts';
import { sliceAt } from './json-slice.ts';

/** Parts of one result; further ones are counted and left out. */
const PARTS_MAX = 256;
const ERROR_CHARS_MAX = 4000;

/** Codes of JSON-RPC by which a server says that it did not take the request: nothing was run. */
const NOT_RUN: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602]);

export type Reading = {
  /** Whether the tool does something to the world. */
  readonly acts: boolean;
  readonly onError: 'failed' | 'in-doubt';
  /** A text within a text hides a secret from the mask that has seen the whole. */
  readonly mask: SecretMask;
};

/** `reply` is the text of the answer. Throws ToolError. */
export const resultOf = (reply: string, { acts, onError, mask }: Reading): ToolContent => {
  const { result, error } = JSON.parse(reply) as { readonly result?: unknown; readonly error?: unknown };
  if (error !== undefined) throw protocolError(error, mask);
  const { content, isError } = (result ?? {}) as { readonly content?: unknown; readonly isError?: unknown };
  const parts = Array.isArray(content)
    ? content.slice(0, PARTS_MAX).map((part) => masked(partOf(part), mask))
    : [];
  if (Array.isArray(content) && content.length > PARTS_MAX)
    parts.push({ kind: 'text', text: `[${content.length - PARTS_MAX} more parts were left out]` });
  const structured = structuredPart(reply, parts);
  if (structured) parts.push(structured);
  if (isError !== true) return new ToolContent(parts);
  const text = parts.map(wordsOf).join('\n').slice(0, ERROR_CHARS_MAX).toWellFormed();
  const said = text === '' ? 'it gave no reason' : text;
  const after = acts ? ' It may have had a part of its effect: look before you do it again.' : '';
  throw new ToolError(`The tool server says that this failed: ${said}${after}`, {
    code: 'tool-error',
    happened: acts && onError === 'in-doubt' ? 'unknown' : false,
  });
};

const protocolError = (error: unknown, mask: SecretMask): ToolError => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const notRun = typeof code === 'number' && NOT_RUN.has(code);
  const whole = mask.apply(typeof message === 'string' ? message : 'no message');
  const said = whole.slice(0, ERROR_CHARS_MAX).toWellFormed();
  return new ToolError(
    `The tool server answered with error ${String(code)}: ${said}${notRun ? ' Nothing was run.' : ''}`,
    { code: 'tool-server-error', happened: notRun ? false : 'unknown' },
  );
};

const masked = (part: ContentPart, mask: SecretMask): ContentPart =>
  part.kind === 'text' ? { ...part, text: mask.apply(part.text) } : part;

type Part = Readonly<Record<string, unknown>>;

const partOf = (given: unknown): ContentPart => {
  const part = (given ?? {}) as Part;
  switch (part['type']) {
    case 'text':
      return { kind: 'text', text: textOf(part['text']) };
    case 'image':
    case 'audio':
      return bytesOf(part['data'], part['mimeType'], undefined);
    case 'resource':
      return resourceOf((part['resource'] ?? {}) as Part);
    case 'resource_link':
      return { kind: 'text', text: `[link ${textOf(part['uri'])}] ${textOf(part['name'])}`.trim() };
    default:
      return {
        kind: 'text',
        text: `[a part of the kind ${JSON.stringify(part['type'])}, which is not known here]`,
      };
  }
};

const resourceOf = ({ uri, text, blob, mimeType }: Part): ContentPart => {
  const name = textOf(uri);
  if (typeof text === 'string') return { kind: 'text', text: name === '' ? text : `[${name}]\n${text}` };
  return bytesOf(blob, mimeType, name === '' ? undefined : name);
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const MEDIA = /^[\w.+-]+\/[\w.+-]+$/;

const bytesOf = (data: unknown, media: unknown, name: string | undefined): ContentPart => {
  if (typeof data !== 'string' || !BASE64.test(data))
    return { kind: 'text', text: '[a file whose bytes are no base64]' };
  const type = typeof media === 'string' && MEDIA.test(media) ? media : 'application/octet-stream';
  return { kind: 'bytes', bytes: Buffer.from(data, 'base64'), type, ...(name !== undefined && { name }) };
};

/**
 * The structured form, digit for digit as it was sent. Servers repeat it as text for older clients: where a text says
 * the same, once is enough.
 */
const structuredPart = (reply: string, parts: readonly ContentPart[]): ContentPart | undefined => {
  const slice = sliceAt(reply, ['result', 'structuredContent']);
  if (!slice || slice.text === 'null') return undefined;
  const read = parseStrict(slice.text);
  if (!read.ok && read.reason === 'too-deep')
    return { kind: 'text', text: `[structured content was left out: ${read.message}]` };
  const isRepeated = parts.some((part) => {
    if (part.kind !== 'text') return false;
    const text = parseStrict(part.text);
    return text.ok && read.ok && text.canonical === read.canonical;
  });
  if (isRepeated) return undefined;
  // What cannot be read strictly is text that somebody wrote, and is handed on as such.
  return read.ok ? { kind: 'json-text', text: slice.text } : { kind: 'text', text: slice.text };
};

const wordsOf = (part: ContentPart): string => {
  switch (part.kind) {
    case 'text':
    case 'json-text':
      return part.text;
    case 'bytes':
      return `[${part.type}, ${part.bytes.length} bytes]`;
    case 'json':
      return '';
    default:
      return part satisfies never;
  }
};
