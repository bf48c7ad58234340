/**
 * Output items of the OpenAI Responses API as blocks of the record, and back. A block's `opaque` is the item's own
 * text with `null` where the record holds the value (text, call id, arguments), so that everything else goes back
 * byte for byte: ids, phases, annotations, encrypted reasoning.
 *
 * Rules for what cannot go back: (1) reasoning without encrypted content, because nothing is stored at the provider;
 * (2) a call of a kind that this runtime does not answer; (3) reasoning that nothing follows, which the API refuses;
 * (4) everything opaque that another provider said.
 */
import type { ResponseBlock } from '../event/content.ts';
import type { Omission, PromptBlock } from '../context/encoding.ts';
import { jsonAt, jsonElements, jsonWith, type JsonPath } from './json-text.ts';
import { wireToolName } from './provider/tool-name.ts';

/** Items that wait for an answer of the client, and the item that answers. Functions are the runtime's own. */
const ANSWERED_BY: ReadonlyMap<string, string> = new Map([
  ['apply_patch_call', 'apply_patch_call_output'],
  ['computer_call', 'computer_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
  ['local_shell_call', 'local_shell_call_output'],
  ['mcp_approval_request', 'mcp_approval_response'],
  ['shell_call', 'shell_call_output'],
  ['tool_search_call', 'tool_search_output'],
]);

type Item = {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly call_id?: unknown;
  readonly approval_request_id?: unknown;
  readonly execution?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly encrypted_content?: unknown;
  readonly summary?: unknown;
  readonly content?: unknown;
};

const parseItem = (raw: string): Item => (JSON.parse(raw) ?? {}) as Item;

type Part = { readonly type?: unknown; readonly text?: unknown; readonly refusal?: unknown };

const partsOf = (value: unknown): readonly Part[] =>
  Array.isArray(value) ? (value as readonly (Part | null)[]).map((part) => part ?? {}) : [];

/** One output item, given as its own text. */
export const blocksOf = (raw: string): readonly ResponseBlock[] => {
  const item = parseItem(raw);
  switch (item.type) {
    case 'message':
      return messageBlocks(raw, item);
    case 'function_call':
      return [callBlock(raw, item)];
    case 'reasoning':
      return [{ type: 'reasoning', text: reasoningText(item), opaque: raw }];
    default:
      return [{ type: 'opaque', json: raw }];
  }
};

const TEXT_PATH = (index: number): JsonPath => ['content', index, 'text'];
const CALL_ID: JsonPath = ['call_id'];
const ARGUMENTS: JsonPath = ['arguments'];

const messageBlocks = (raw: string, item: Item): readonly ResponseBlock[] => {
  const texts = partsOf(item.content).flatMap((part, index) =>
    part.type === 'output_text' && typeof part.text === 'string' && part.text !== ''
      ? [{ text: part.text, path: TEXT_PATH(index) }]
      : [],
  );
  if (texts.length === 0) return [{ type: 'opaque', json: raw }];
  const opaque = jsonWith(
    raw,
    texts.map(({ path }) => [path, 'null']),
  );
  return texts.map(({ text }, i) => ({ type: 'text', text, ...(i === 0 && { opaque }) }));
};

const callBlock = (raw: string, item: Item): ResponseBlock => ({
  type: 'call',
  label: typeof item.call_id === 'string' ? item.call_id : '',
  name: typeof item.name === 'string' ? item.name : '',
  args: typeof item.arguments === 'string' ? item.arguments : (jsonAt(raw, ARGUMENTS) ?? ''),
  opaque: jsonWith(raw, [
    [CALL_ID, 'null'],
    [ARGUMENTS, 'null'],
  ]),
});

const reasoningText = ({ summary, content }: Item): string =>
  [...partsOf(summary), ...partsOf(content)]
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .filter((text) => text !== '')
    .join('\n\n');

/** The words of a refusal, where one of the items is one. */
export const refusalOf = (items: readonly string[]): string | undefined => {
  for (const raw of items) {
    const { type, content } = parseItem(raw);
    const refused = type === 'message' ? partsOf(content).find((part) => part.type === 'refusal') : undefined;
    if (refused) return typeof refused.refusal === 'string' ? refused.refusal : '';
  }
  return undefined;
};

const keysOf = (item: Item): readonly string[] =>
  [item.call_id, item.id, item.approval_request_id].filter((key) => typeof key === 'string');

const waits = (item: Item): boolean =>
  ANSWERED_BY.has(String(item.type)) && !(item.type === 'tool_search_call' && item.execution !== 'client');

/** The items that wait for an answer nobody will give: not functions, and not answered among these items. */
export const unanswered = (items: readonly string[]): readonly string[] => {
  const parsed = items.map(parseItem);
  return items.filter((_, i) => {
    const item = parsed[i] ?? {};
    if (!waits(item)) return false;
    const answer = ANSWERED_BY.get(String(item.type));
    const keys = new Set(keysOf(item));
    return !parsed.some((other) => other.type === answer && keysOf(other).some((key) => keys.has(key)));
  });
};

export const itemType = (raw: string): string => String(parseItem(raw).type);

/** One item of a request, and the first block that it was made of. */
type Placed = { readonly block: number; readonly type: PromptBlock['type']; readonly raw: string };

/** The items that stand for what an assistant said, and what is left out. `own` says whether this provider said it. */
export const itemsOf = (
  blocks: readonly PromptBlock[],
  own: boolean,
): { readonly items: readonly string[]; readonly omitted: readonly Omission[] } => {
  const placed: Placed[] = [];
  const omitted: Omission[] = [];
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at];
    if (!block) break;
    const { type } = block;
    const unsent = whyUnsent(block, own);
    if (unsent) omitted.push({ block: at, type, why: unsent });
    else if (block.type === 'text') {
      const holes = own && block.opaque !== undefined ? holesOf(block.opaque) : [];
      const texts = blocks.slice(at, at + Math.max(1, holes.length));
      const raw =
        own && block.opaque !== undefined ? filled(block.opaque, holes, texts) : plainMessage(block.text);
      placed.push({ block: at, type, raw });
      at += texts.length - 1;
    } else placed.push({ block: at, type, raw: itemOf(block, own) });
  }
  const unfit = unfitOf(placed);
  const items = placed.filter(({ block }) => !unfit.some((one) => one.block === block)).map(({ raw }) => raw);
  return { items, omitted: [...omitted, ...unfit].sort((a, b) => a.block - b.block) };
};

const whyUnsent = (block: PromptBlock, own: boolean): Omission['why'] | undefined => {
  if (block.type === 'opaque') return own ? undefined : 'foreign';
  if (block.type !== 'reasoning') return undefined;
  if (!own || block.opaque === undefined) return 'foreign';
  return isEncrypted(block.opaque) ? undefined : 'unreadable';
};

const itemOf = (block: Exclude<PromptBlock, { type: 'text' }>, own: boolean): string => {
  switch (block.type) {
    case 'reasoning':
      return block.opaque ?? '';
    case 'opaque':
      return block.json;
    case 'call': {
      const [id, args] = [JSON.stringify(block.id), JSON.stringify(block.args)];
      const name = JSON.stringify(wireToolName(block.name));
      if (!own || block.opaque === undefined)
        return `{"type":"function_call","call_id":${id},"name":${name},"arguments":${args}}`;
      return jsonWith(block.opaque, [
        [CALL_ID, id],
        [ARGUMENTS, args],
      ]);
    }
    default:
      return block satisfies never;
  }
};

const plainMessage = (text: string): string => JSON.stringify({ role: 'assistant', content: text });

const holesOf = (message: string): readonly JsonPath[] =>
  jsonElements(jsonAt(message, ['content']) ?? '[]').flatMap((part, index) =>
    jsonAt(part, ['text']) === 'null' ? [TEXT_PATH(index)] : [],
  );

const filled = (message: string, holes: readonly JsonPath[], texts: readonly PromptBlock[]): string =>
  jsonWith(
    message,
    holes.map((path, i) => {
      const block = texts[i];
      return [path, JSON.stringify(block?.type === 'text' ? block.text : '')];
    }),
  );

const isEncrypted = (raw: string): boolean => {
  const { encrypted_content: content } = parseItem(raw);
  return typeof content === 'string' && content !== '';
};

/** What nobody answers, and reasoning that then has nothing after it. */
const unfitOf = (placed: readonly Placed[]): readonly Omission[] => {
  const open = new Set(unanswered(placed.map(({ raw }) => raw)));
  const unfit: Omission[] = [];
  let followed = false;
  for (const { block, type, raw } of placed.toReversed()) {
    if (open.has(raw)) unfit.push({ block, type, why: 'unanswered' });
    else if (type === 'reasoning' && !followed) unfit.push({ block, type, why: 'unreadable' });
    followed = !open.has(raw) && (type !== 'reasoning' || followed);
  }
  return unfit;
};
