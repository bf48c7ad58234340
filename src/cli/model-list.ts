/** Providers of models as `onrecord models` shows them. Credentials appear by name, never by value. */
import type { Clock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import { allProviders } from '../model/models.ts';
import type { Credential } from '../model/provider/credential.ts';
import { probe, type Probed } from '../model/provider/probe.ts';
import type { Provider } from '../model/provider/provider.ts';
import type { Agent } from '../worker/agent.ts';
import type { Config } from './config.ts';

export type Use = { readonly agent: string; readonly model: string };

export type CredentialState =
  | { readonly state: 'found'; readonly name: string; readonly from: string }
  | { readonly state: 'missing'; readonly wanted: readonly string[]; readonly message: string }
  | { readonly state: 'unusable'; readonly message: string }
  | { readonly state: 'none-wanted' };

export type ProviderRow = {
  readonly provider: string;
  readonly baseUrl: string;
  readonly credential: CredentialState;
  readonly used: readonly Use[];
  /** Absent: not asked. */
  readonly answer?: Probed;
  /** What agents use and the provider's list, where it gave one, does not hold. */
  readonly unlisted?: readonly string[];
};

export type ModelList = {
  readonly providers: readonly ProviderRow[];
  /** Models that bring their own way to a provider: nothing to find here and nobody to ask. */
  readonly others: readonly { readonly provider: string; readonly used: readonly Use[] }[];
};

/** `check` asks every provider that can be asked, all at once. */
export const listModels = async (
  { agents, providers }: Config,
  { check, clock }: { readonly check: boolean; readonly clock: Clock },
): Promise<ModelList> => {
  const known = allProviders(providers);
  const names = new Set(known.map(({ name }) => name));
  const rest = new Set(agents.map(providerOf).filter((name) => !names.has(name)));
  return {
    providers: await Promise.all(known.map((one) => rowOf(one, agents, check ? clock : undefined))),
    others: [...rest].sort().map((provider) => ({ provider, used: usesOf(provider, agents) })),
  };
};

/** Whether a provider that was asked, or that an agent needs, did not answer. */
export const isTrouble = ({ credential, used, answer, unlisted = [] }: ProviderRow): boolean => {
  if (answer) return answer.kind === 'fails' || unlisted.length > 0;
  return used.length > 0 || credential.state === 'unusable';
};

const providerOf = ({ definition }: Agent): string => definition.model.provider;

const usesOf = (provider: string, agents: readonly Agent[]): readonly Use[] =>
  agents
    .filter((agent) => providerOf(agent) === provider)
    .map(({ definition }) => ({ agent: definition.name, model: definition.model.name }));

const rowOf = async (
  provider: Provider,
  agents: readonly Agent[],
  clock: Clock | undefined,
): Promise<ProviderRow> => {
  const { credential, state } = found(provider);
  const used = usesOf(provider.name, agents);
  const row = { provider: provider.name, baseUrl: provider.connection.baseUrl, credential: state, used };
  if (!clock || state.state === 'missing' || state.state === 'unusable') return row;
  const answer = await probe(provider, credential, clock);
  const listed = answer.kind === 'answers' ? answer.models : [];
  const unlisted =
    listed.length === 0 ? [] : used.map(({ model }) => model).filter((model) => !listed.includes(model));
  return { ...row, answer, unlisted: [...new Set(unlisted)] };
};

const found = ({
  connection,
}: Provider): { readonly credential?: Credential; readonly state: CredentialState } => {
  if (connection.credentialNames.length === 0) return { state: { state: 'none-wanted' } };
  try {
    const credential = connection.find();
    if (credential) {
      const { name, from } = credential;
      return { credential, state: { state: 'found', name, from } };
    }
    return { state: { state: 'missing', wanted: connection.credentialNames, message: connection.missing } };
  } catch (error) {
    if (!isOnrecordError(error)) throw error;
    const hint = error.hint === undefined ? '' : ` ${error.hint}`;
    return { state: { state: 'unusable', message: `${error.message}${hint}` } };
  }
};
