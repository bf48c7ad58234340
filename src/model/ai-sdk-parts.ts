/** Parts of an AI SDK stream, specification v4, as a reply. It counts only with its `finish` part. */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { ResponseBlock, StopReason, Usage } from '../event/content.ts';
import type { Delta } from './model.ts';
import { ownToolName } from './provider/tool-name.ts';

type Metadata = Readonly<Record<string, unknown>> | undefined;
type Growing = { readonly type: 'text' | 'reasoning'; text: string; metadata: Metadata };

export type Answer = {
  readonly stop: StopReason;
  readonly stopDetail?: string;
  readonly content: readonly ResponseBlock[];
  readonly usage?: Usage;
  readonly responseId?: string;
};

const opaque = (metadata: Metadata): { readonly opaque?: string } =>
  metadata && Object.keys(metadata).length > 0 ? { opaque: JSON.stringify(metadata) } : {};

/** A part that only the provider understands, in the form in which a prompt gives it back. */
const returned = (part: Readonly<Record<string, unknown>>): ResponseBlock => {
  const { providerMetadata, ...rest } = part;
  const json = JSON.stringify({
    ...rest,
    ...(providerMetadata !== undefined && { providerOptions: providerMetadata }),
  });
  return { type: 'opaque', json };
};

export class PartStream {
  readonly #tools: readonly { readonly name: string }[];
  readonly #onDelta: (delta: Delta) => void;
  readonly #blocks: (Growing | ResponseBlock)[] = [];
  readonly #open = new Map<string, Growing>();
  readonly #inputs = new Map<string, number>();
  #finish: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | undefined;
  #id: string | undefined;

  constructor(tools: readonly { readonly name: string }[], onDelta: (delta: Delta) => void) {
    this.#tools = tools;
    this.#onDelta = onDelta;
  }

  get whole(): boolean {
    return this.#finish !== undefined;
  }

  get reason(): LanguageModelV4FinishReason | undefined {
    return this.#finish?.reason;
  }

  get partial(): string | undefined {
    const texts = this.#blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return texts.length === 0 ? undefined : texts.join('');
  }

  get usage(): Usage | undefined {
    return this.#finish && usageOf(this.#finish.usage);
  }

  push(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part.id, part.type === 'text-start' ? 'text' : 'reasoning', part.providerMetadata);
        break;
      case 'text-delta':
      case 'reasoning-delta': {
        const type = part.type === 'text-delta' ? 'text' : 'reasoning';
        const block = this.#open.get(key(type, part.id)) ?? this.#begin(part.id, type, undefined);
        block.text += part.delta;
        block.metadata = part.providerMetadata ?? block.metadata;
        if (part.delta !== '') this.#onDelta({ type, text: part.delta });
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const name = key(part.type === 'text-end' ? 'text' : 'reasoning', part.id);
        const block = this.#open.get(name);
        if (block) block.metadata = part.providerMetadata ?? block.metadata;
        this.#open.delete(name);
        break;
      }
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#inputs.set(part.id, this.#inputs.size);
        break;
      case 'tool-input-delta': {
        const index = this.#inputs.get(part.id);
        if (index !== undefined) this.#onDelta({ type: 'call-arguments', index, text: part.delta });
        break;
      }
      case 'response-metadata':
        this.#id = part.id ?? this.#id;
        break;
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.usage };
        break;
      default:
        this.#take(part);
    }
  }

  answer(): Answer {
    const { usage } = this;
    const content = this.#blocks.flatMap((block): ResponseBlock[] => {
      if (!('metadata' in block)) return [block];
      const { type, text, metadata } = block;
      return text === '' && metadata === undefined ? [] : [{ type, text, ...opaque(metadata) }];
    });
    return {
      ...stopOf(this.#finish?.reason),
      content,
      ...(usage && { usage }),
      ...(this.#id !== undefined && { responseId: this.#id }),
    };
  }

  #begin(id: string, type: 'text' | 'reasoning', metadata: Metadata): Growing {
    const block: Growing = { type, text: '', metadata };
    this.#blocks.push(block);
    this.#open.set(key(type, id), block);
    return block;
  }

  #take(part: LanguageModelV4StreamPart): void {
    if (part.type === 'tool-call') {
      const { toolCallId, toolName, input, providerMetadata, providerExecuted } = part;
      if (providerExecuted === true) this.#blocks.push(returned({ ...part, input: parsed(input) }));
      else
        this.#blocks.push({
          type: 'call',
          label: toolCallId,
          name: ownToolName(toolName, this.#tools),
          args: input,
          ...opaque(providerMetadata),
        });
    } else if (part.type === 'tool-result') {
      const { result, isError, preliminary, dynamic: _, ...rest } = part;
      if (preliminary === true) return;
      const output = { type: isError === true ? 'error-json' : 'json', value: result };
      this.#blocks.push(returned({ ...rest, output }));
    } else if (part.type === 'custom' || part.type === 'file' || part.type === 'reasoning-file')
      this.#blocks.push(returned(part));
  }
}

const key = (type: string, id: string): string => `${type} ${id}`;

const parsed = (input: string): unknown => {
  try {
    return JSON.parse(input === '' ? '{}' : input) as unknown;
  } catch {
    return {};
  }
};

/** `noCache` is the uncached rest; where only a total is known, all of it counts as that. */
const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined => {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const rest = Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite);
  return { cacheRead, cacheWrite, input: inputTokens.noCache ?? rest, output: outputTokens.total ?? 0 };
};

const STOPS: Readonly<Record<LanguageModelV4FinishReason['unified'], StopReason>> = {
  stop: 'end',
  length: 'length',
  'content-filter': 'refusal',
  'tool-calls': 'calls',
  error: 'unknown',
  interrupted: 'unknown',
  other: 'unknown',
};

/** Words of providers that the unified ones have no name for. */
const RAW_STOPS: Readonly<Record<string, StopReason>> = {
  pause_turn: 'paused',
  compaction: 'paused',
  stop_sequence: 'stop-sequence',
  model_context_window_exceeded: 'context-overflow',
};

const stopOf = (reason: LanguageModelV4FinishReason | undefined): Pick<Answer, 'stop' | 'stopDetail'> => {
  const { unified, raw } = reason ?? { unified: 'other', raw: undefined };
  const named = raw !== undefined && Object.hasOwn(RAW_STOPS, raw) ? RAW_STOPS[raw] : undefined;
  const stop = named ?? STOPS[unified] ?? 'unknown';
  return stop === 'unknown' ? { stop, stopDetail: raw ?? unified } : { stop };
};
