/**
 * A provider as a value: where it is, which credential it takes, and the models that it makes. Nothing is looked up
 * before a request is sent, so that agents can be defined, read and replayed where no key is.
 */
import { badInput, isOnrecordError } from '../../errors.ts';
import type { JsonObject } from '../../event/json.ts';
import type { Model, ModelReply, ModelRequest } from '../model.ts';
import {
  credentialFile,
  CREDENTIAL_FILE_VARIABLE,
  findCredential,
  type Credential,
  type Environment,
} from './credential.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import type { Fetch } from './system-fetch.ts';

export type ProviderOptions = {
  /** Another server of the same kind. The provider's own key is not sent there: name another `credential`. */
  readonly baseUrl?: string;
  /** Name of the variable, or of the line in the credentials file, that holds the key. Bound to the base URL's origin. */
  readonly credential?: string;
  /** Sent with every request. None of them may be a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
  /** Milliseconds without a byte after which a stream is given up. */
  readonly idleMs?: number;
  /** Where credentials are looked for. Default: the environment of the process, at each request. */
  readonly env?: Environment;
};

export type Provider = {
  /** The first part of `provider/model`. */
  readonly name: string;
  readonly connection: Connection;
  /** `params` are sent as they are; the model's adapter refuses those that would bend the record. */
  readonly model: (name: string, params?: JsonObject) => Model;
  /** What answers a GET without cost: the list of models. Relative to the base URL. */
  readonly probe: { readonly path: string; readonly headers: Readonly<Record<string, string>> };
};

export type ConnectionDefaults = {
  readonly provider: string;
  readonly baseUrl: string;
  /** Names in the order in which they are tried; none for a server that wants no key. */
  readonly credentialNames: readonly string[];
  readonly auth?: ExchangeOptions['auth'];
};

type Opened =
  | { readonly exchange: Exchange }
  /** No credential, or one that may not be used: nothing was sent. */
  | { readonly refused: ModelReply };

export class Connection {
  readonly provider: string;
  readonly baseUrl: string;
  readonly credentialNames: readonly string[];
  readonly auth: ExchangeOptions['auth'];
  readonly #options: ProviderOptions;

  /** Throws `provider-invalid`. */
  constructor(defaults: ConnectionDefaults, options: ProviderOptions = {}) {
    const { provider, auth } = defaults;
    this.provider = provider;
    this.baseUrl = checkedUrl(provider, options.baseUrl ?? defaults.baseUrl);
    this.auth = auth;
    this.#options = options;
    const home = new URL(this.baseUrl).origin === new URL(defaults.baseUrl).origin;
    this.credentialNames =
      options.credential === undefined ? (home ? defaults.credentialNames : []) : [options.credential];
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#options.headers ?? {};
  }

  get fetch(): Fetch | undefined {
    return this.#options.fetch;
  }

  /** The credential, if there is one. Throws as `findCredential` does. */
  find(): Credential | undefined {
    const { origin } = new URL(this.baseUrl);
    return findCredential({ names: this.credentialNames, origin }, this.#options.env ?? process.env);
  }

  /** Where a missing credential could be put, for a person. */
  get missing(): string {
    const { path } = credentialFile(this.#options.env ?? process.env);
    return `There is no credential for ${this.provider}. Set ${this.credentialNames.join(' or ')}, or write it as NAME=value to ${path}, which only you may read. ${CREDENTIAL_FILE_VARIABLE} names another file.`;
  }

  open(request: ModelRequest): Opened {
    const { baseUrl, auth } = this;
    const { headers, fetch, idleMs } = this.#options;
    try {
      const credential = this.find();
      if (!credential && this.credentialNames.length > 0) return { refused: unauthenticated(this.missing) };
      return { exchange: new Exchange({ request, baseUrl, credential, auth, headers, fetch, idleMs }) };
    } catch (thrown) {
      if (!isOnrecordError(thrown) || thrown.next === 'bug') throw thrown;
      return { refused: unauthenticated(thrown.message) };
    }
  }
}

const unauthenticated = (message: string): ModelReply => ({
  kind: 'failed',
  maybeBilled: false,
  problem: { kind: 'authentication', message },
});

const checkedUrl = (provider: string, given: string): string => {
  const url = URL.parse(given);
  if (
    !url ||
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    url.username !== '' ||
    url.search !== ''
  )
    throw badInput(
      'provider-invalid',
      `The base URL of ${provider} must be an http or https URL without user, password and query.`,
      { provider },
    );
  return given.replace(/\/+$/, '');
};

/** An SDK that is not installed is said so. Throws `sdk-missing`. */
export const loadSdk = async <T>(name: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw badInput(
      'sdk-missing',
      `The package ${name} is not installed. It is optional; this model needs it.`,
      { package: name },
      `npm install ${name}`,
    );
  }
};
