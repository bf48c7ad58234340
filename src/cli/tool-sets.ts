/** The built-in tools by the names that agent files use. Each set's code is loaded when a file asks for it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Tool } from '../tool/tool.ts';
import { envName, toolServerOptions, toolServerSchema, type ToolServerEntry } from './tool-servers.ts';

/** What a set may refer to. */
export type ToolSetPlace = {
  /** Relative paths of an agent file begin here: the folder of the configuration. */
  readonly folder: string;
  /** Paths that no file tool may touch: the store, the agents, the configuration. */
  readonly protect: readonly string[];
  /** Where credentials are named; values are read when they are sent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file of approved definitions of tool servers. */
  readonly pins: string;
};

const text = z.string().min(1);
const folderShape = {
  root: text,
  prefix: text.optional(),
  protect: z.array(text).optional(),
  readOnly: z.boolean().optional(),
  untrusted: z.boolean().optional(),
};

const ONE_SET = 'each entry names one set: files, csv, http, mail, calendar, javascript or mcp';

/** One entry of `tools:`; exactly one set. */
export const toolSetSchema: z.ZodType = z
  .strictObject(
    {
      files: z.strictObject(folderShape).optional(),
      csv: z.strictObject({ ...folderShape, allowFormulas: z.array(text).optional() }).optional(),
      http: z
        .strictObject({
          allow: z
            .array(
              z.strictObject({
                origin: text,
                ports: z.array(z.number().int().min(1).max(65_535)).optional(),
                allowPrivate: z.boolean().optional(),
                credential: z
                  .strictObject({ header: text, env: envName, prefix: z.string().optional() })
                  .optional(),
              }),
            )
            .min(1),
          name: text.optional(),
          private: z.boolean().optional(),
          limits: z
            .strictObject({
              bodyBytes: z.number().int().min(1).optional(),
              timeMs: z.number().int().min(1).optional(),
            })
            .optional(),
        })
        .optional(),
      mail: z
        .strictObject({
          drafts: text,
          inbox: text,
          attachments: text.optional(),
          from: z.strictObject({ name: text.optional(), address: text }),
          contacts: z.array(text).optional(),
          prefix: text.optional(),
        })
        .optional(),
      calendar: z.strictObject({ path: text, zone: text.optional(), prefix: text.optional() }).optional(),
      javascript: z
        .strictObject({
          level: z.enum(['auto', 'gvisor', 'wasm']).optional(),
          require: z.literal('gvisor').optional(),
          engine: z.enum(['quickjs', 'node']).optional(),
          name: text.optional(),
          tools: z.array(text).optional(),
          warm: z.number().int().min(0).optional(),
          limits: z.record(text, z.number().int().min(1)).optional(),
        })
        .optional(),
      mcp: toolServerSchema.optional(),
    },
    { error: ({ code }) => (code === 'invalid_type' ? ONE_SET : undefined) },
  )
  .refine((entry) => Object.keys(entry).length === 1, { message: ONE_SET });

type FolderEntry = {
  readonly root: string;
  readonly prefix?: string;
  readonly protect?: readonly string[];
  readonly readOnly?: boolean;
  readonly untrusted?: boolean;
};

type HttpEntry = {
  readonly allow: readonly {
    readonly origin: string;
    readonly ports?: readonly number[];
    readonly allowPrivate?: boolean;
    readonly credential?: { readonly header: string; readonly env: string; readonly prefix?: string };
  }[];
  readonly name?: string;
  readonly private?: boolean;
  readonly limits?: { readonly bodyBytes?: number; readonly timeMs?: number };
};

type MailEntry = {
  readonly drafts: string;
  readonly inbox: string;
  readonly attachments?: string;
  readonly from: { readonly name?: string; readonly address: string };
  readonly contacts?: readonly string[];
  readonly prefix?: string;
};

type JavascriptEntry = {
  readonly level?: 'auto' | 'gvisor' | 'wasm';
  readonly require?: 'gvisor';
  readonly engine?: 'quickjs' | 'node';
  readonly name?: string;
  readonly tools?: readonly string[];
  readonly warm?: number;
  /** Names and ranges are checked where rooms are opened. */
  readonly limits?: Readonly<Record<string, number>>;
};

/** An entry that the schema has accepted. */
export type ToolSet = {
  readonly files?: FolderEntry;
  readonly csv?: FolderEntry & { readonly allowFormulas?: readonly string[] };
  readonly http?: HttpEntry;
  readonly mail?: MailEntry;
  readonly calendar?: { readonly path: string; readonly zone?: string; readonly prefix?: string };
  readonly javascript?: JavascriptEntry;
  readonly mcp?: ToolServerEntry;
};

/** Throws what the sets throw: `tool-invalid`, `folder-not-found`, ... */
export const toolsOf = async (set: ToolSet, place: ToolSetPlace): Promise<readonly Tool[]> => {
  const { files, csv, http, mail, calendar, javascript, mcp } = set;
  const at = (path: string): string => resolve(place.folder, path);
  const confined = <Entry extends FolderEntry>(entry: Entry): Entry => ({
    ...entry,
    root: at(entry.root),
    protect: [...(entry.protect ?? []).map(at), ...place.protect],
  });
  if (files) return (await import('../tool/files/tools.ts')).fileTools(confined(files));
  if (csv) return (await import('../tool/csv/tools.ts')).csvTools(confined(csv));
  if (http) return httpSet(http, place);
  if (mail) return mailSet(mail, at);
  if (calendar) {
    const { calendarTools } = await import('../tool/calendar/tools.ts');
    return calendarTools({ ...calendar, path: at(calendar.path) });
  }
  if (javascript) return (await import('../tool/javascript/tools.ts')).javascriptTools(javascript);
  if (mcp) {
    const { openToolServer } = await import('../tool/mcp/tools.ts');
    return (await openToolServer({ ...toolServerOptions(mcp, place), pins: place.pins })).tools;
  }
  return [];
};

const httpSet = async (entry: HttpEntry, { env }: ToolSetPlace): Promise<readonly Tool[]> => {
  const { httpTools } = await import('../tool/http/get.ts');
  const { ToolError } = await import('../tool/tool.ts');
  const valueOf = (name: string, prefix: string): string => {
    const value = env[name];
    if (value !== undefined && value !== '') return prefix + value;
    throw new ToolError(`The credential ${name} is not set here. A person has to set it.`, {
      code: 'credential-missing',
      details: { name },
    });
  };
  const allow = entry.allow.map(({ credential, ...rest }) => ({
    ...rest,
    ...(credential && {
      credential: {
        header: credential.header,
        name: credential.env,
        value: () => valueOf(credential.env, credential.prefix ?? ''),
      },
    }),
  }));
  return httpTools({ ...entry, allow });
};

const mailSet = async (entry: MailEntry, at: (path: string) => string): Promise<readonly Tool[]> => {
  const { mailTools } = await import('../tool/mail/tools.ts');
  const { badInput } = await import('../errors.ts');
  const folders = { drafts: at(entry.drafts), inbox: at(entry.inbox) };
  for (const [name, folder] of Object.entries(folders))
    if (!existsSync(folder))
      throw badInput(
        'folder-not-found',
        `the folder "${entry[name as 'drafts' | 'inbox']}" for ${name} is not there`,
      );
  return mailTools({
    ...entry,
    ...folders,
    ...(entry.attachments !== undefined && { attachments: at(entry.attachments) }),
  });
};
