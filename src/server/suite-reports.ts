/**
 * Reports of suites as files in one folder: what `onrecord suite run --json` printed, each under a name of its own. They
 * come from elsewhere (a colleague, CI), so what is no report is said to be none, and nothing of it is believed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';

/** Files of the folder that are looked at: the newest. */
const FILES_MAX = 200;
const FILE_BYTES_MAX: number = 64 * 1024 * 1024;
/** Reports kept parsed. */
const KEPT_MAX = 8;
const NAME = /^[\w-][\w.-]{0,99}\.json$/;

export type SuiteDeed = {
  readonly seq: number;
  readonly what: string;
  readonly value: Readonly<Record<string, unknown>>;
};

export type SuiteReport = {
  readonly runs: readonly {
    readonly scenario: string;
    readonly model: string;
    readonly repeat: number;
    readonly verdict: 'passed' | 'failed' | 'errored';
    readonly problems: readonly { readonly expectation: string; readonly message: string }[];
    readonly signature?: { readonly deeds: readonly SuiteDeed[] } | undefined;
    readonly steps: number;
    readonly cost?: number | undefined;
  }[];
  readonly complete: boolean;
  readonly seed?: number | undefined;
  readonly ms: number;
  readonly differences: readonly {
    readonly scenario: string;
    readonly models: readonly [string, string];
    readonly divergence: {
      readonly one?: SuiteDeed | undefined;
      readonly other?: SuiteDeed | undefined;
      readonly path: string;
      readonly same: number;
      readonly cause: string;
      readonly definitions?: readonly { readonly text: string }[] | undefined;
    };
  }[];
};

const deed = z.looseObject({
  seq: z.number(),
  what: z.string(),
  value: z.record(z.string(), z.unknown()),
});

const run = z.looseObject({
  scenario: z.string(),
  model: z.string(),
  repeat: z.number(),
  verdict: z.enum(['passed', 'failed', 'errored']),
  problems: z.array(z.looseObject({ expectation: z.string(), message: z.string() })),
  signature: z.looseObject({ deeds: z.array(deed) }).optional(),
  steps: z.number(),
  cost: z.number().optional(),
});

const difference = z.looseObject({
  scenario: z.string(),
  models: z.tuple([z.string(), z.string()]),
  divergence: z.looseObject({
    one: deed.optional(),
    other: deed.optional(),
    path: z.string(),
    same: z.number(),
    cause: z.string(),
    definitions: z.array(z.looseObject({ text: z.string() })).optional(),
  }),
});

const report: z.ZodType<SuiteReport> = z.looseObject({
  runs: z.array(run),
  complete: z.boolean(),
  seed: z.number().optional(),
  ms: z.number(),
  differences: z.array(difference),
});

export type ReportFile = {
  /** Without ".json". */
  readonly name: string;
  /** When the file was written, ms since 1970 UTC. */
  readonly at: number;
  readonly report: SuiteReport | undefined;
  /** Why there is none in it. */
  readonly problem: string | undefined;
};

type Kept = { readonly stamp: string; readonly file: ReportFile };

export class SuiteReports {
  readonly #folder: string | undefined;
  readonly #kept = new Map<string, Kept>();

  /** Without a folder there are none. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** The newest first. */
  list(): readonly ReportFile[] {
    const names = this.#names();
    return names.flatMap((name) => this.#read(name) ?? []).toSorted((one, other) => other.at - one.at);
  }

  get(name: string): ReportFile | undefined {
    return NAME.test(`${name}.json`) ? this.#read(`${name}.json`) : undefined;
  }

  #names(): readonly string[] {
    const folder = this.#folder;
    if (folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      return [];
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .map((name) => ({ name, at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .toSorted((one, other) => other.at - one.at)
      .slice(0, FILES_MAX)
      .map(({ name }) => name);
  }

  #read(name: string): ReportFile | undefined {
    const path = join(this.#folder ?? '', name);
    const stats = this.#folder === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return undefined;
    const stamp = `${stats.mtimeMs} ${stats.size}`;
    const known = this.#kept.get(name);
    if (known?.stamp === stamp) return known.file;
    const file: ReportFile = {
      name: name.slice(0, -'.json'.length),
      at: Math.round(stats.mtimeMs),
      ...parsed(path, stats.size),
    };
    this.#kept.delete(name);
    this.#kept.set(name, { stamp, file });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return file;
  }
}

const parsed = (path: string, bytes: number): Pick<ReportFile, 'report' | 'problem'> => {
  if (bytes > FILE_BYTES_MAX)
    return { report: undefined, problem: `It has ${bytes} bytes, the limit is ${FILE_BYTES_MAX}.` };
  try {
    const found = report.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (found.success) return { report: found.data, problem: undefined };
    const [issue] = found.error.issues;
    return {
      report: undefined,
      problem: `It is no report: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}.`,
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { report: undefined, problem: 'It is no JSON.' };
  }
};
