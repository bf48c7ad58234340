/**
 * A baseline: what every scenario of a suite did when somebody looked at it and found it right. A file for version
 * control, of sorted, indented JSON, so that a change of it can be read.
 */
import { z } from 'zod';
import { badInput } from '../../errors.ts';
import { canonical, isSame } from '../../event/canonical.ts';
import type { Json } from '../../event/json.ts';
import type { Aspects, Deed } from './deeds.ts';
import { divergenceOf, type Divergence, type Signature } from './divergence.ts';
import type { ExamRun } from './exam.ts';

export const BASELINE_VERSION = 2;
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256, 64 hexadecimal digits');
const digests = z.record(z.string(), digest);

const deed = z.strictObject({
  kind: z.enum(['call', 'read', 'turn']),
  turn: z.int().min(1),
  step: z.int().min(1).optional(),
  what: z.string(),
  value: z.record(z.string(), z.json()),
});

export const baselineSchema: z.ZodType = z.strictObject({
  version: z.literal(BASELINE_VERSION),
  agents: z.record(
    z.string(),
    z.strictObject({
      name: z.string(),
      instructions: digest,
      tools: z.record(z.string(), digests),
      policy: digests,
      limits: digest,
      context: digest,
    }),
  ),
  scenarios: z.record(z.string(), z.strictObject({ agent: z.string(), deeds: z.array(deed) })),
});

export type Baseline = {
  readonly version: number;
  /** By name; where agents of one name are not the same, the others have a number behind it. */
  readonly agents: Readonly<Record<string, Aspects>>;
  readonly scenarios: Readonly<
    Record<string, { readonly agent: string; readonly deeds: readonly Omit<Deed, 'seq'>[] }>
  >;
};

/** Of the first run of each scenario that was played. */
export const baselineOf = (runs: readonly ExamRun[]): Baseline => {
  const agents: Record<string, Aspects> = {};
  const scenarios = runs
    .flatMap(({ scenario, repeat, signature }) =>
      repeat === 1 && signature ? [{ scenario, signature }] : [],
    )
    .sort((one, other) => (one.scenario < other.scenario ? -1 : 1))
    .map(({ scenario, signature: { deeds, aspects } }) => {
      const agent = keyIn(agents, aspects);
      agents[agent] = aspects;
      return [scenario, { agent, deeds: deeds.map(withoutEvent) }] as const;
    });
  return { version: BASELINE_VERSION, agents, scenarios: Object.fromEntries(scenarios) };
};

const withoutEvent = ({ kind, turn, step, what, value }: Deed): Omit<Deed, 'seq'> => ({
  kind,
  turn,
  step,
  what,
  value,
});

const keyIn = (agents: Readonly<Record<string, Aspects>>, aspects: Aspects): string => {
  for (let count = 1; ; count++) {
    const key = count === 1 ? aspects.name : `${aspects.name} ${count}`;
    const there = agents[key];
    if (!there || isSame(there, aspects)) return key;
  }
};

/** UTF-8 text with a line feed at its end; members in canonical order. */
export const baselineText = (baseline: Baseline): string =>
  `${JSON.stringify(JSON.parse(canonical(baseline)) as Json, null, 2)}\n`;

export type Changed = {
  readonly scenario: string;
  readonly how: 'new' | 'gone' | 'other';
  readonly divergence: Divergence | undefined;
};

/** What is otherwise than in the baseline. `all` is false where only some of the scenarios were run. */
export const changedFrom = (
  baseline: Baseline,
  runs: readonly ExamRun[],
  all: boolean,
): readonly Changed[] => {
  const now = new Map(runs.filter(({ repeat }) => repeat === 1).map((run) => [run.scenario, run]));
  const names = [...new Set([...Object.keys(baseline.scenarios), ...now.keys()])].sort();
  return names.flatMap((scenario): readonly Changed[] => {
    const before = baseline.scenarios[scenario];
    const run = now.get(scenario);
    if (!run) return all ? [{ scenario, how: 'gone', divergence: undefined }] : [];
    if (!before) return [{ scenario, how: 'new', divergence: undefined }];
    if (!run.signature) return [{ scenario, how: 'other', divergence: undefined }];
    const aspects = baseline.agents[before.agent];
    if (!aspects) throw badInput('baseline-invalid', `The baseline has no agent "${before.agent}".`);
    const divergence = divergenceOf(signatureOf(aspects, before.deeds), run.signature);
    return divergence ? [{ scenario, how: 'other', divergence }] : [];
  });
};

/** The event of a deed is not in a baseline: it is noise. */
const signatureOf = (aspects: Aspects, deeds: readonly Omit<Deed, 'seq'>[]): Signature => ({
  aspects,
  deeds: deeds.map((one) => ({ ...one, seq: 0 })),
});
