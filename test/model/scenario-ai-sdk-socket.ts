/**
 * The story as a language model of the AI SDK that has a way of its own over a socket: it posts the options that it is
 * called with, as they are, and is told the parts of the answer a line each.
 */
import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { aiSdkModel } from '../../src/model/ai-sdk.ts';
import { storyModel } from './scenario-ai-sdk.ts';
import type { Dialect } from './scenario.ts';

const postingModel = (url: string): LanguageModelV4 => ({
  ...storyModel(() => ({})),
  doStream: async ({ abortSignal, ...options }) => {
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(options),
      ...(abortSignal && { signal: abortSignal }),
    });
    if (!response.ok || !response.body)
      throw new APICallError({
        message: 'Slow down.',
        url,
        requestBodyValues: {},
        statusCode: response.status,
        responseHeaders: Object.fromEntries(response.headers),
        responseBody: await response.text(),
      });
    return { stream: response.body.pipeThrough(new TextDecoderStream()).pipeThrough(linesOfParts()) };
  },
});

const linesOfParts = (): TransformStream<string, LanguageModelV4StreamPart> => {
  let rest = '';
  return new TransformStream({
    transform: (text, controller) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) controller.enqueue(JSON.parse(line) as LanguageModelV4StreamPart);
    },
  });
};

export const aiSdkSocketDialect: Dialect = {
  name: 'AI SDK over a socket',
  wire: true,
  model: ({ url }) => aiSdkModel(postingModel(url)),
  serve: async (step, response) => {
    if (step.error?.status !== undefined) {
      response.writeHead(step.error.status, { 'retry-after-ms': String(step.error.retryAfterMs) });
      response.end('{"error":{"type":"rate_limit_error","message":"Slow down."}}');
      return;
    }
    const { stream } = await storyModel(() => step).doStream({ prompt: [] });
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for await (const part of stream) response.write(`${JSON.stringify(part)}\n`);
    if (step.error) response.write('', () => response.destroy());
    else response.end();
  },
};
