/**
 * What every provider takes. NUL and half surrogate pairs make a request one that is refused for ever; towards
 * providers each becomes U+FFFD and is counted, the log keeps what came. Signed and opaque parts of an answer go back
 * as their provider made them.
 */
import type { AgentDefinition } from '../event/definition.ts';
import type { PromptBlock, PromptItem } from './encoding.ts';

const REPLACEMENT = '\uFFFD';
/** With the flag u, a surrogate stands only for one without its other half. */
const UNSENDABLE = /\0|\p{Surrogate}/gu;
const ESCAPED_NUL = '\\u0000';
/** The escape of NUL in a JSON text, and whatever other escape stands before it. */
const ESCAPED = /\\(?:u0000|[^])/g;

const isClean = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** A JSON text that was read strictly: of what is meant here it can only hold NUL, and that escaped. */
const isCleanJson = (text: string): boolean => !text.includes(ESCAPED_NUL);

class Cleaner {
  /** Characters that were replaced. */
  replaced = 0;

  text(text: string): string {
    if (isClean(text)) return text;
    return text.replaceAll(UNSENDABLE, () => this.#replacement());
  }

  json(text: string): string {
    if (isCleanJson(text)) return text;
    return text.replaceAll(ESCAPED, (escape) => (escape === ESCAPED_NUL ? this.#replacement() : escape));
  }

  value<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.value(item)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [this.text(key), this.value<unknown>(member)]),
    ) as T;
  }

  block(block: PromptBlock): PromptBlock {
    switch (block.type) {
      case 'text':
        return { ...block, text: this.text(block.text) };
      case 'call':
        return { ...block, name: this.text(block.name), args: this.json(block.args) };
      default:
        return block;
    }
  }

  item(item: PromptItem): PromptItem {
    switch (item.kind) {
      case 'user':
      case 'note':
        return { ...item, text: this.text(item.text) };
      case 'results':
        return {
          ...item,
          results: item.results.map((result) => ({
            ...result,
            name: this.text(result.name),
            text: this.text(result.text),
          })),
        };
      case 'assistant':
        return { ...item, blocks: item.blocks.map((block) => this.block(block)) };
      default:
        return item satisfies never;
    }
  }

  #replacement(): string {
    this.replaced++;
    return REPLACEMENT;
  }
}

export type Sendable<T> = { readonly value: T; readonly replaced: number };

export const sendableItem = (item: PromptItem): Sendable<PromptItem> => {
  if (isSendable(item)) return { value: item, replaced: 0 };
  const cleaner = new Cleaner();
  const value = cleaner.item(item);
  return { value, replaced: cleaner.replaced };
};

/** Nearly every item is, and is not copied. */
const isSendable = (item: PromptItem): boolean => {
  switch (item.kind) {
    case 'user':
    case 'note':
      return isClean(item.text);
    case 'results':
      return item.results.every(({ name, text }) => isClean(name) && isClean(text));
    case 'assistant':
      return item.blocks.every(isSendableBlock);
    default:
      return item satisfies never;
  }
};

const isSendableBlock = (block: PromptBlock): boolean => {
  switch (block.type) {
    case 'text':
      return isClean(block.text);
    case 'call':
      return isClean(block.name) && isCleanJson(block.args);
    default:
      return true;
  }
};

/** Instructions and tools as they stand in the frame of a request. */
export const sendableAgent = (agent: AgentDefinition): Sendable<AgentDefinition> => {
  const cleaner = new Cleaner();
  const { instructions, tools } = agent;
  const value = { ...agent, instructions: cleaner.text(instructions), tools: cleaner.value(tools) };
  return cleaner.replaced === 0 ? { value: agent, replaced: 0 } : { value, replaced: cleaner.replaced };
};
