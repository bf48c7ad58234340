/**
 * How a conversation becomes the bytes that a provider is sent. An adapter supplies pure functions for the
 * elements of its conversation array; the runtime joins them, so that a step encodes only what is new.
 */
import type { AgentDefinition, ModelDefinition } from '../event/definition.ts';
import type { ResponseBlock } from '../event/content.ts';

export type PromptBlock =
  | Exclude<ResponseBlock, { type: 'call' }>
  /** `id` is unique in the conversation; `args` is one JSON object, valid for every provider. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly args: string;
      readonly opaque?: string;
    };

/** The model that spoke: what only it understands means nothing to another. */
export type Speaker = Pick<ModelDefinition, 'provider' | 'name'>;

export type PromptResult = {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
};

export type PromptItem =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly blocks: readonly PromptBlock[]; readonly by: Speaker }
  /** All results of one step, in the order of its calls. */
  | { readonly kind: 'results'; readonly results: readonly PromptResult[] }
  /** The runtime speaks: what became of a call after its turn had ended. */
  | { readonly kind: 'note'; readonly text: string };

export type Encoder = {
  /** Names the form; another name means that nothing of an earlier request can be shared. */
  readonly name: string;
  /** UTF-8 bytes of a body that the provider takes at most. */
  readonly bytesMax?: number;
  /** The body before the first element and after the last one. */
  frame(agent: AgentDefinition): { readonly head: string; readonly tail: string };
  /** The elements of the conversation array that stand for an item, each as JSON text. */
  elements(item: PromptItem): readonly string[];
  /** What `elements` leaves out of an item, because this provider cannot take it. Absent: it takes everything. */
  readonly omissions?: (item: PromptItem) => readonly Omission[];
};

/** A block that is not sent. `block` counts from 0 in the item. */
export type Omission = {
  readonly block: number;
  readonly type: PromptBlock['type'];
  /**
   * `foreign`: only the provider that made it can read it. `blank`: a text without a visible character. `unanswered`: it
   * asks for what this runtime does not do. `unreadable`: reasoning that its provider would refuse to take up again.
   */
  readonly why: 'foreign' | 'blank' | 'unanswered' | 'unreadable';
};
