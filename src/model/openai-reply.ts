/** What a response object of the OpenAI Responses API means, whether it came whole or at the end of a stream. */
import type { StopReason, Usage } from '../event/content.ts';
import { jsonAt, jsonElements } from './json-text.ts';
import { blocksOf, itemType, refusalOf, unanswered } from './openai-items.ts';
import { failedWith, isRecord, recordOf, tokens, type Reading } from './openai-reading.ts';
import { readError } from './provider/problem.ts';
import { openaiRemarks } from './remarks.ts';

/**
 * `raw` is the response object as its own text. `items` are the output items that a stream brought one by one;
 * without them they are taken from the object. An end that is not known is an answer with the stop `unknown`.
 */
export const readResponse = (raw: string, items: readonly string[] = outputOf(raw)): Reading => {
  const response = recordOf(JSON.parse(raw));
  const usage = usageOf(response['usage']);
  const { id, status, error } = response;
  if (isRecord(error) || status === 'failed') return failedWith(readError({ error }) ?? {}, '', usage);
  const remarks = openaiRemarks(response);
  return {
    kind: 'response',
    ...stopOf(response, items),
    content: items.flatMap(blocksOf),
    ...(usage && { usage }),
    ...(typeof id === 'string' && { responseId: id }),
    ...(remarks && { remarks }),
  };
};

export const outputOf = (raw: string): readonly string[] => jsonElements(jsonAt(raw, ['output']) ?? '[]');

type Stop = { readonly stop: StopReason; readonly stopDetail?: string };

const stopOf = (response: Readonly<Record<string, unknown>>, items: readonly string[]): Stop => {
  const { status, incomplete_details: details } = response;
  const refusal = refusalOf(items);
  if (refusal !== undefined) return { stop: 'refusal', ...(refusal !== '' && { stopDetail: refusal }) };
  if (status === 'incomplete') return incompleteStop(recordOf(details)['reason']);
  if (status !== 'completed') return { stop: 'unknown', stopDetail: `status ${JSON.stringify(status)}` };
  const open = unanswered(items).map(itemType);
  if (open.length > 0)
    return {
      stop: 'unknown',
      stopDetail: `it asks for ${open.join(', ')}, which this runtime does not answer`,
    };
  return { stop: items.some((item) => itemType(item) === 'function_call') ? 'calls' : 'end' };
};

const incompleteStop = (reason: unknown): Stop => {
  switch (reason) {
    case 'max_output_tokens':
      return { stop: 'length' };
    case 'content_filter':
      return { stop: 'refusal', stopDetail: 'content_filter' };
    default:
      return { stop: 'unknown', stopDetail: `incomplete: ${JSON.stringify(reason)}` };
  }
};

/** `input_tokens` includes what was read from the cache and written to it; the record counts each token once. */
export const usageOf = (usage: unknown): Usage | undefined => {
  if (!isRecord(usage) || usage['input_tokens'] === undefined) return undefined;
  const details = recordOf(usage['input_tokens_details']);
  const total = tokens(usage['input_tokens']);
  const cacheRead = Math.min(tokens(details['cached_tokens']), total);
  const cacheWrite = Math.min(tokens(details['cache_write_tokens']), total - cacheRead);
  const input = total - cacheRead - cacheWrite;
  return { cacheRead, cacheWrite, input, output: tokens(usage['output_tokens']) };
};
