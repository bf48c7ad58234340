/**
 * Content blocks of the Anthropic Messages API as blocks of the record, and back. A block is cut out of the reply as
 * text and never printed anew, so that what only the provider understands goes back byte for byte, and the digits of
 * a tool's input are those that the model wrote.
 *
 * `opaque` of a text or a call is the block's own text with `null` where the record holds the value; of thinking it
 * is the signature alone, which never starts with a brace, or else the whole block in the same way.
 */
import type { ResponseBlock } from '../event/content.ts';
import type { PromptBlock } from '../context/encoding.ts';
import { jsonAt, jsonKeys, jsonWith } from './json-text.ts';
import { ownToolName, wireToolName } from './provider/tool-name.ts';

export type Tools = readonly { readonly name: string }[];

type Block = Readonly<Record<string, unknown>>;

const words = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A whole block, given as its own text. */
export const blockOf = (raw: string, tools: Tools): ResponseBlock => {
  const block = JSON.parse(raw) as Block;
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: words(block['text']), ...more(raw, block, ['text']) };
    case 'thinking':
      return { type: 'reasoning', text: words(block['thinking']), ...signature(raw, block) };
    case 'tool_use': {
      const args = jsonAt(raw, ['input']) ?? '{}';
      const name = ownToolName(words(block['name']), tools);
      return {
        type: 'call',
        label: words(block['id']),
        name,
        args,
        ...more(raw, block, ['id', 'name', 'input']),
      };
    }
    default:
      return { type: 'opaque', json: raw };
  }
};

type More = { readonly opaque?: string };

/** What a block holds beside its values. `null` and an empty list are no news. */
const more = (raw: string, block: Block, values: readonly string[]): More => {
  const known = new Set(['type', ...values]);
  const said = Object.entries(block).some(
    ([key, value]) => !known.has(key) && value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return said
    ? {
        opaque: jsonWith(
          raw,
          values.map((key) => [[key], 'null'] as const),
        ),
      }
    : {};
};

const signature = (raw: string, block: Block): More => {
  const plain = jsonKeys(raw).every((key) => ['type', 'thinking', 'signature'].includes(key));
  const signed = words(block['signature']);
  if (plain && signed === '') return {};
  return plain && !signed.startsWith('{')
    ? { opaque: signed }
    : more(raw, { ...block, extra: 1 }, ['thinking']);
};

/** The block to send, as JSON text; undefined for one that the API would refuse. `own`: this API made it. */
export const wireBlock = (block: PromptBlock, own: boolean): string | undefined => {
  switch (block.type) {
    case 'text':
      return isBlank(block)
        ? undefined
        : filled(own ? block.opaque : undefined, 'text', { text: block.text });
    case 'reasoning':
      return own ? thinking(block) : undefined;
    case 'call': {
      const { id, name, args } = block;
      const opaque = own ? block.opaque : undefined;
      return filled(opaque, 'tool_use', { id, name: wireToolName(name) }, { input: args });
    }
    case 'opaque':
      return own ? block.json : undefined;
    default:
      return block satisfies never;
  }
};

/** The API refuses a text without a visible character. */
export const isBlank = (block: PromptBlock): boolean => block.type === 'text' && block.text.trim() === '';

const thinking = ({ text, opaque }: Extract<PromptBlock, { type: 'reasoning' }>): string | undefined => {
  // Thinking without a signature is no proof of anything: the API takes none back.
  if (opaque === undefined) return undefined;
  if (opaque.startsWith('{')) return filled(opaque, 'thinking', { thinking: text });
  return JSON.stringify({ type: 'thinking', thinking: text, signature: opaque });
};

const filled = (
  opaque: string | undefined,
  type: string,
  values: Readonly<Record<string, string>>,
  raws: Readonly<Record<string, string>> = {},
): string => {
  const texts = Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)] as const);
  const all = [...texts, ...Object.entries(raws)];
  if (opaque !== undefined)
    return jsonWith(
      opaque,
      all.map(([key, value]) => [[key], value] as const),
    );
  return `{"type":"${type}",${all.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
};
