/** How the configuration says that people are told: hook commands and webhooks, made into channels. */
import type { Channel } from '../worker/notifier.ts';

/** A command of the operator's own, or a webhook whose secret stands in an environment variable. */
export type NotifyTarget = { readonly name?: string } & (
  | { readonly command: readonly string[] }
  | { readonly webhook: { readonly url: string; readonly secretEnv: string } }
);

const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
export const TARGETS_MAX = 20;

/** One sentence about the first problem; undefined where there is none. */
export const notifyProblem = (notify: unknown): string | undefined => {
  if (notify === undefined) return undefined;
  if (!Array.isArray(notify) || notify.length > TARGETS_MAX)
    return `notify must be a list of up to ${TARGETS_MAX}: [{ command: ["./tell.sh"] }, { webhook: { url, secretEnv } }]`;
  for (const [index, target] of notify.entries()) {
    const problem = targetProblem(target as Readonly<Record<string, unknown>> | null);
    if (problem !== undefined) return `notify[${index}] ${problem}`;
  }
  return undefined;
};

const targetProblem = (target: Readonly<Record<string, unknown>> | null): string | undefined => {
  const { command, webhook, name, ...rest } = target ?? {};
  const [odd] = Object.keys(rest);
  if (odd !== undefined) return `has "${odd}"; it takes name, and command or webhook`;
  if ((command === undefined) === (webhook === undefined)) return 'takes either command or webhook';
  if (name !== undefined && typeof name !== 'string') return 'has a name that is no text';
  if (command !== undefined)
    return Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')
      ? undefined
      : 'has a command that is no list of words: ["./tell.sh", "--channel", "ops"]';
  const { url, secretEnv } = webhook as { readonly url?: unknown; readonly secretEnv?: unknown };
  if (typeof url !== 'string') return 'has a webhook without a url';
  if (typeof secretEnv !== 'string' || !SECRET_NAME.test(secretEnv))
    return 'names no environment variable in webhook.secretEnv: A-Z, 0-9 and "_"';
  return undefined;
};

export type ChannelOptions = {
  /** Where hook commands run: the folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * Throws `channel-invalid`. A webhook whose secret is not set is left out: what nobody was told of stays to be told by
 * a process that has it. See missingSecrets().
 */
export const channelsOf = async (
  targets: readonly NotifyTarget[],
  { folder, env }: ChannelOptions,
): Promise<readonly Channel[]> => {
  // Loaded by commands that work, not by those that look.
  const { hookChannel, webhookChannel } = await import('../worker/channels.ts');
  const names = new Set<string>();
  return targets.flatMap((target) => {
    const kind = 'command' in target ? 'hook' : 'webhook';
    const name = freeName(target.name ?? kind, names);
    if ('command' in target) return hookChannel({ name, command: target.command, cwd: folder });
    const { url, secretEnv } = target.webhook;
    const secret = env[secretEnv];
    return secret === undefined || secret === '' ? [] : webhookChannel({ name, url, secret });
  });
};

const freeName = (name: string, taken: Set<string>): string => {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
  taken.add(free);
  return free;
};

/** Secrets that are named and not set here. */
export const missingSecrets = (
  targets: readonly NotifyTarget[],
  env: ChannelOptions['env'],
): readonly string[] =>
  targets.flatMap((target) =>
    'webhook' in target && (env[target.webhook.secretEnv] ?? '') === '' ? [target.webhook.secretEnv] : [],
  );
