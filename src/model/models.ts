/** Models by name: `provider/model`. The providers are a value that is passed in; there is no registry to add to. */
import { badInput } from '../errors.ts';
import type { JsonObject } from '../event/json.ts';
import { aiSdkModel, isAiSdkModel, type AiSdkModel } from './ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import type { Model } from './model.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider/provider.ts';

/** A model, one of the AI SDK, or the name of one as `provider/model`. */
export type ModelChoice = Model | AiSdkModel | string;

/** The providers that are known without a word of configuration. */
export const builtInProviders = (): readonly Provider[] => [anthropic(), openai()];

export type ResolveOptions = {
  /** Beside the built-in ones; one of the same name takes its place. */
  readonly providers?: readonly Provider[] | undefined;
  /** Sent to the provider as they are. */
  readonly params?: JsonObject | undefined;
};

/** Those given, and the built-in ones that none of them replaces. Throws `provider-invalid` where a name stands twice. */
export const allProviders = (given: readonly Provider[] = []): readonly Provider[] => {
  const names = given.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw badInput('provider-invalid', `Two providers are called "${twice}".`, { provider: twice });
  return [...given, ...builtInProviders().filter(({ name }) => !names.includes(name))];
};

/** Throws `model-unknown`, and what the provider throws for its parameters. Looks for no credential. */
export const resolveModel = (spec: string, { providers, params }: ResolveOptions = {}): Model => {
  const all = allProviders(providers);
  const at = spec.indexOf('/');
  const name = spec.slice(at + 1);
  const provider = all.find((candidate) => at > 0 && candidate.name === spec.slice(0, at));
  if (provider && name.trim() !== '') return provider.model(name, params);
  throw badInput(
    'model-unknown',
    `There is no model "${spec}". Expected provider/model, where the provider is one of ${all.map((one) => one.name).join(', ')}.`,
    { model: spec },
    'onrecord models',
  );
};

/** Throws as `resolveModel` and `aiSdkModel` do. */
export const modelOf = (choice: ModelChoice, options: ResolveOptions = {}): Model => {
  if (typeof choice === 'string') return resolveModel(choice, options);
  return isAiSdkModel(choice) ? aiSdkModel(choice, { params: options.params ?? {} }) : choice;
};
