/**
 * Models of the OpenAI Responses API. Needs the package `openai`, which is loaded with the first request. Each
 * request holds the whole conversation and asks that nothing is stored; reasoning comes back encrypted and returns
 * byte for byte.
 */
import type { JsonObject } from '../event/json.ts';
import type { Model } from './model.ts';
import { checkOpenaiParams, openaiEncoder } from './openai-encoder.ts';
import { readResponse } from './openai-reply.ts';
import { sendThrough, type Dialect } from './openai-send.ts';
import { ResponsesStream } from './openai-stream.ts';
import { Connection, type Provider, type ProviderOptions } from './provider/provider.ts';
import { toolNamesProblem } from './provider/tool-name.ts';

const OPENAI_URL = 'https://api.openai.com/v1';

const RESPONSES: Dialect = {
  path: '/responses',
  reader: (onDelta) => new ResponsesStream(onDelta),
  whole: (raw) => readResponse(raw),
};

export type OpenaiOptions = ProviderOptions & {
  /** Names the provider in the record. Default `openai`; another server of the same API has its own name. */
  readonly name?: string;
};

/**
 * The OpenAI provider. Key: `OPENAI_API_KEY`. `params` of a model go into the request as they are, but for what would
 * leave state at the provider (`model-params-refused`). `prompt_cache_key: false` sends no cache key. Throws
 * `provider-invalid`.
 */
export const openai = (options: OpenaiOptions = {}): Provider => {
  const { name: provider = 'openai' } = options;
  const connection = new Connection(
    { provider, baseUrl: OPENAI_URL, credentialNames: ['OPENAI_API_KEY'] },
    options,
  );
  return {
    name: provider,
    connection,
    probe: { path: '/models', headers: {} },
    model: (name, params: JsonObject = {}): Model => {
      checkOpenaiParams(params);
      return {
        definition: { provider, name, params },
        encoder: openaiEncoder(provider),
        refuses: ({ tools }) => toolNamesProblem(tools),
        send: (request) => sendThrough(connection, request, RESPONSES),
      };
    },
  };
};
