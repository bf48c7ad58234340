/** Tool servers as agent files name them. Nothing is started to read them: what is offered is what was approved. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { badInput } from '../errors.ts';
import { readServer, type ServerToolSettings, type ToolServerOptions } from '../tool/mcp/server.ts';
import { ToolError } from '../tool/tool.ts';
import { readYaml } from './yaml-file.ts';

const text = z.string().min(1);
const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
export const envName: z.ZodString = z
  .string()
  .regex(SECRET_NAME, 'must be the name of an environment variable: A-Z, 0-9 and "_"');

const settings = z.strictObject({
  effect: z.enum(['none', 'idempotent', 'once']).optional(),
  approval: z.enum(['policy', 'always', 'never']).optional(),
  timeoutMs: z.number().int().min(1).optional(),
  labels: z.strictObject({ untrusted: z.boolean().optional(), private: z.boolean().optional() }).optional(),
  egress: z.boolean().optional(),
  onError: z.enum(['failed', 'in-doubt']).optional(),
});

export const toolServerSchema: z.ZodType = z
  .strictObject({
    name: text,
    command: z.array(z.string()).min(1).optional(),
    cwd: text.optional(),
    env: z.array(envName).optional(),
    secrets: z.array(envName).optional(),
    url: text.optional(),
    credential: z.strictObject({ header: text, env: envName, prefix: z.string().optional() }).optional(),
    tools: z.record(text, settings).optional(),
    defaults: settings.optional(),
    idleMs: z.number().int().min(1).optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'a tool server has either a command or a url',
  });

export type ToolServerEntry = {
  readonly name: string;
  readonly command?: readonly string[];
  /** Relative to the folder of the configuration, which it is by default. */
  readonly cwd?: string;
  /** Names of variables that the process is given beside PATH. */
  readonly env?: readonly string[];
  readonly secrets?: readonly string[];
  readonly url?: string;
  readonly credential?: { readonly header: string; readonly env: string; readonly prefix?: string };
  readonly tools?: Readonly<Record<string, ServerToolSettings>>;
  readonly defaults?: ServerToolSettings;
  readonly idleMs?: number;
};

type Setting = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The options of openToolServer, without the pins. */
export const toolServerOptions = (entry: ToolServerEntry, { folder, env }: Setting): ToolServerOptions => {
  const { name, command, url, credential, tools, defaults, idleMs } = entry;
  const rest = {
    name,
    ...(tools && { tools }),
    ...(defaults && { defaults }),
    ...(idleMs !== undefined && { idleMs }),
  };
  if (url !== undefined)
    return { ...rest, url, ...(credential && { credential: credentialOf(credential, env) }) };
  return {
    ...rest,
    command: command ?? [],
    cwd: resolve(folder, entry.cwd ?? '.'),
    env: valuesOf(['PATH', ...(entry.env ?? [])], env),
    secrets: valuesOf(entry.secrets ?? [], env),
  };
};

/** One that is not set is not handed on; `onrecord mcp` says so. */
const valuesOf = (names: readonly string[], env: Setting['env']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const credentialOf = (
  { header, env: name, prefix = '' }: NonNullable<ToolServerEntry['credential']>,
  env: Setting['env'],
): { readonly header: string; readonly name: string; readonly value: () => string } => ({
  header,
  name,
  value: () => {
    const value = env[name];
    if (value !== undefined && value !== '') return prefix + value;
    throw new ToolError(`The credential ${name} is not set here. A person has to set it.`, {
      code: 'credential-missing',
      details: { name },
    });
  },
});

export type ConfiguredServer = {
  readonly name: string;
  /** Its command line or its address. */
  readonly place: string;
  /** Agent files that name it. */
  readonly files: readonly string[];
  /** Names of variables that it is given, and those of them that are not set here. */
  readonly env: readonly string[];
  readonly unset: readonly string[];
  readonly options: ToolServerOptions;
};

/**
 * The servers of these agent files, by name. Agents are not made: a server that nobody has approved yet keeps an agent
 * from being one. Throws `agent-file-invalid`, and `tool-server-invalid` where one name stands for two servers.
 */
export const configuredServers = (
  files: readonly string[],
  setting: Setting,
): readonly ConfiguredServer[] => {
  const found = new Map<string, ConfiguredServer>();
  for (const where of files) {
    const document = readYaml(readFileSync(resolve(setting.folder, where)), {
      where,
      code: 'agent-file-invalid',
    });
    for (const [index, entry] of entriesIn(document.value)) {
      const checked = toolServerSchema.safeParse(entry);
      // An agent file that is wrong is told of by whoever makes the agent.
      if (!checked.success) throw document.fail('no tool server', ['tools', index, 'mcp']);
      const server = configured(checked.data as ToolServerEntry, where, setting);
      const known = found.get(server.name);
      if (known && known.place !== server.place)
        throw badInput(
          'tool-server-invalid',
          `${where}: the tool server "${server.name}" is ${server.place} here and ${known.place} in ${known.files.join(', ')}.`,
          { server: server.name },
        );
      found.set(server.name, known ? { ...known, files: [...known.files, where] } : server);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

const entriesIn = (file: unknown): readonly (readonly [number, unknown])[] => {
  const { tools } = (file ?? {}) as { readonly tools?: unknown };
  if (!Array.isArray(tools)) return [];
  return (tools as readonly unknown[]).flatMap((set, index) => {
    const { mcp } = (set ?? {}) as { readonly mcp?: unknown };
    return mcp === undefined ? [] : [[index, mcp] as const];
  });
};

const configured = (entry: ToolServerEntry, where: string, setting: Setting): ConfiguredServer => {
  const options = toolServerOptions(entry, setting);
  const env = [
    ...(entry.env ?? []),
    ...(entry.secrets ?? []),
    ...(entry.credential ? [entry.credential.env] : []),
  ];
  return {
    name: entry.name,
    place: readServer(options).place,
    files: [where],
    env,
    unset: env.filter((name) => setting.env[name] === undefined),
    options,
  };
};
