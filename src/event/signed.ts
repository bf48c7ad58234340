/**
 * Reasoning that its provider signed, or that only its provider can read: it goes back unchanged behind exactly
 * what stood before it, or not at all.
 */
import type { ResponseBlock } from './content.ts';

/** Types of blocks that providers keep closed: Anthropic Messages, OpenAI Responses. */
const CLOSED_TYPES: ReadonlySet<unknown> = new Set([
  'redacted_thinking',
  'thinking',
  'reasoning',
  'compaction',
]);

export const isSigned = (
  block: Pick<ResponseBlock, 'type'> & { readonly opaque?: string; readonly json?: string },
): boolean => {
  if (block.type === 'reasoning') return block.opaque !== undefined;
  return block.type === 'opaque' && CLOSED_TYPES.has(typeOf(block.json ?? ''));
};

const typeOf = (json: string): unknown => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined;
  } catch {
    return undefined;
  }
};
