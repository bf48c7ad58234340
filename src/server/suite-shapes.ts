/** The shapes of reports of suites as the window shows them. */
import { z } from '@hono/zod-openapi';

export type SuiteRow = {
  readonly name: string;
  readonly at: number;
  /** Why it cannot be read. */
  readonly problem: string | null;
  readonly scenarios: number;
  readonly models: readonly string[];
  readonly passed: number;
  readonly failed: number;
  readonly errored: number;
  readonly differences: number;
  /** False where it was stopped before its end. */
  readonly complete: boolean;
};

export type SuiteRunView = {
  readonly scenario: string;
  readonly model: string;
  readonly repeat: number;
  readonly verdict: 'passed' | 'failed' | 'errored';
  readonly problems: readonly { readonly expectation: string; readonly message: string }[];
  readonly steps: number;
  readonly cost: number | null;
};

export type SuiteDifference = {
  readonly scenario: string;
  readonly models: readonly [string, string];
  readonly path: string;
  /** Deeds that were the same. */
  readonly same: number;
  readonly cause: string;
  /** The event of each side; null where it did nothing more. */
  readonly seqs: readonly [number | null, number | null];
  readonly what: string | null;
  readonly definitions: readonly string[];
};

export type SuiteView = {
  readonly ms: number;
  readonly seed: number | null;
  readonly runs: readonly SuiteRunView[];
  readonly differences: readonly SuiteDifference[];
};

export type DeedView = {
  readonly seq: number;
  readonly what: string;
  readonly how: string;
  readonly args: string | null;
};

export type SideView = { readonly model: string; readonly deeds: readonly DeedView[] };

export type SuitesView = {
  readonly items: readonly SuiteRow[];
  readonly report: SuiteView | null;
  readonly sides: readonly SideView[] | null;
};

export const suitesShape: z.ZodType<SuitesView> = z
  .object({
    items: z.array(z.looseObject({ name: z.string(), at: z.number() })),
    report: z
      .looseObject({ ms: z.number(), runs: z.array(z.looseObject({ scenario: z.string() })) })
      .nullable(),
    sides: z.array(z.looseObject({ model: z.string() })).nullable(),
  })
  .openapi('Suites') as unknown as z.ZodType<SuitesView>;
