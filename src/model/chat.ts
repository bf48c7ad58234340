/**
 * Models behind the Chat Completions API: vLLM, Ollama, llama.cpp, gateways. Needs the package `openai`, which is
 * loaded with the first request. Lenient with what such servers answer, strict with what they are sent.
 */
import { badInput } from '../errors.ts';
import type { JsonObject } from '../event/json.ts';
import { chatEncoder, checkChatParams } from './chat-encoder.ts';
import { ChatStream, readCompletion } from './chat-stream.ts';
import type { Model } from './model.ts';
import { sendThrough, type Dialect } from './openai-send.ts';
import { Connection, type Provider, type ProviderOptions } from './provider/provider.ts';
import { toolNamesProblem } from './provider/tool-name.ts';

const COMPLETIONS: Dialect = {
  path: '/chat/completions',
  reader: (onDelta) => new ChatStream(onDelta),
  whole: readCompletion,
};

export type ChatOptions = Omit<ProviderOptions, 'baseUrl'> & {
  /** Names the server in the record: 1 to 64 of a-z, 0-9 and "-". Another server has another name. */
  readonly name: string;
  /** Up to and without `/chat/completions`, for example `http://localhost:11434/v1`. */
  readonly baseUrl: string;
};

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** Their opaque items have another form. */
const TAKEN: ReadonlySet<string> = new Set(['scripted', 'anthropic', 'openai', 'ai-sdk']);

/**
 * A server that speaks Chat Completions. Without `credential` no key is sent. `params` of a model go into the request
 * as they are. Throws `provider-invalid`.
 */
export const chatServer = (options: ChatOptions): Provider => {
  const { name: provider, baseUrl } = options;
  if (!NAME.test(provider) || TAKEN.has(provider))
    throw badInput(
      'provider-invalid',
      `A chat server cannot be called "${provider}". Expected 1 to 64 characters of a-z, 0-9 and "-", other than ${[...TAKEN].join(', ')}.`,
      { provider },
    );
  const connection = new Connection({ provider, baseUrl, credentialNames: [] }, options);
  return {
    name: provider,
    connection,
    probe: { path: '/models', headers: {} },
    model: (name, params: JsonObject = {}): Model => {
      checkChatParams(params);
      return {
        definition: { provider, name, params },
        encoder: chatEncoder(provider),
        refuses: ({ tools }) => toolNamesProblem(tools),
        send: (request) => sendThrough(connection, request, COMPLETIONS),
      };
    },
  };
};
