/** The story as a language model of the AI SDK tells it, in this process: specification v4 has no wire of its own. */
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { aiSdkModel } from '../../src/model/ai-sdk.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import type { Dialect } from './scenario.ts';

const parts = (step: ScriptReply): readonly LanguageModelV4StreamPart[] => {
  const { input = 1, cacheRead = 0, cacheWrite = 0, output = 1 } = step.usage ?? {};
  const made: LanguageModelV4StreamPart[] = [{ type: 'stream-start', warnings: [] }];
  if (step.error) return made;
  if (step.reasoning !== undefined)
    made.push(
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: step.reasoning },
      { type: 'reasoning-end', id: '0', providerMetadata: { story: { signature: 'c2lnbmVk' } } },
    );
  if (step.text !== undefined)
    made.push(
      { type: 'text-start', id: '1' },
      ...(step.text.match(/.{1,9}/gsu) ?? []).map(
        (delta) => ({ type: 'text-delta', id: '1', delta }) as const,
      ),
      { type: 'text-end', id: '1' },
    );
  for (const { tool, args, argsRaw, id = '' } of step.calls ?? []) {
    const toolName = tool.replaceAll('.', '__');
    const json = argsRaw ?? JSON.stringify(args);
    made.push(
      { type: 'tool-input-start', id, toolName },
      { type: 'tool-input-delta', id, delta: json },
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName, input: json },
    );
  }
  const unified = (step.calls?.length ?? 0) > 0 ? 'tool-calls' : 'stop';
  made.push({
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input + cacheRead + cacheWrite, noCache: input, cacheRead, cacheWrite },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  });
  return made;
};

export type Asked = { readonly options: LanguageModelV4CallOptions };

/** A model that tells what `next` says, and what it was asked. */
export const storyModel = (next: () => ScriptReply, asked: Asked[] = []): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'story',
  modelId: 'teller',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('Only streams are told.')),
  doStream: (options) => {
    asked.push({ options });
    const step = next();
    if (step.error?.status !== undefined)
      return Promise.reject(
        new APICallError({
          message: 'Slow down.',
          url: 'http://story',
          requestBodyValues: {},
          statusCode: step.error.status,
          responseHeaders: { 'retry-after-ms': String(step.error.retryAfterMs) },
          responseBody: JSON.stringify({ error: { type: 'rate_limit_error', message: 'Slow down.' } }),
        }),
      );
    return Promise.resolve({ stream: ReadableStream.from(parts(step)) });
  },
});

export const aiSdkDialect: Dialect = {
  name: 'AI SDK',
  wire: false,
  model: ({ next }) => aiSdkModel(storyModel(next)),
  serve: (_, response) => void response.end(),
};
