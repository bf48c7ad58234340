/** The field cases as they lie beside the project; nothing of them is copied into it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { parse } from 'yaml';
import type { On } from './stores.ts';

const FILE = join(import.meta.dirname, '../../../shared/field-cases/given.yaml');

export type GivenCall = {
  readonly id?: string;
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly args_raw?: string;
  readonly args_js?: string;
};

export type GivenReply = {
  readonly repeat?: number;
  readonly stop?: string;
  readonly stop_details?: { readonly category?: string };
  readonly usage?: Readonly<Record<string, number>>;
  readonly text?: string | number | null;
  readonly content?: readonly unknown[];
  readonly calls?: readonly GivenCall[];
  readonly http?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly stream?: readonly Readonly<Record<string, unknown>>[];
  readonly then?: string;
};

export type GivenTool = {
  readonly effect?: 'read' | 'write';
  readonly approval?: 'never' | 'always';
  readonly counts?: boolean;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly returns?: unknown;
  readonly returns_text?: string;
  readonly returns_js?: string;
  readonly throws_js?: string | null;
  readonly effect_then_throws_js?: string;
  readonly idempotency?: string;
  readonly timeout?: string;
  readonly settles?:
    | 'never'
    | { readonly after: string; readonly value?: unknown; readonly effect_at?: string };
};

export type GivenCase = {
  /** Where it is tried; not of the file. Default: a new SQLite file. */
  readonly on?: On;
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly harm: string;
  readonly area: string;
  readonly priority: number;
  readonly input: {
    readonly tools?: Readonly<Record<string, GivenTool | 'builtin'>>;
    readonly model?: readonly GivenReply[];
    readonly config?: Readonly<Record<string, unknown>>;
    readonly variants?: readonly Readonly<Record<string, unknown>>[];
    readonly files?: Readonly<Record<string, { readonly text?: string; readonly newline?: string }>>;
    readonly then?: { readonly user: string; readonly model: readonly GivenReply[] };
  } & Readonly<Record<string, unknown>>;
  readonly expect: {
    readonly run?: string;
    readonly reason?: string;
    readonly log?: readonly string[];
    readonly effects?: Readonly<Record<string, number | string>>;
  } & Readonly<Record<string, unknown>>;
};

/** Undefined where the file is not there. */
export const GIVEN: readonly GivenCase[] | undefined = existsSync(FILE)
  ? (parse(readFileSync(FILE, 'utf8')) as { readonly cases: readonly GivenCase[] }).cases
  : undefined;

export const ABSENT: string = 'the field cases are not beside this checkout (../shared/field-cases)';

/** The value of a JavaScript expression of a case. */
export const valueOf = (expression: string): unknown => runInThisContext(`(${expression})`);

/** "5s", "120s", "30 s" in milliseconds. */
export const millisecondsOf = (time: string): number => {
  const [, count, unit] = /^(\d+) ?(ms|s|min)$/.exec(time) ?? [];
  const factor = { ms: 1, s: 1000, min: 60_000 }[unit ?? ''];
  if (count === undefined || factor === undefined) throw new Error(`"${time}" is no time`);
  return Number(count) * factor;
};
