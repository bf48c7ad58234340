/**
 * A policy as people write it: in an agent file, or in a file of its own. Rules alone, or rules and how people are
 * asked; lengths of time with their units.
 */
import { z } from 'zod';
import type { AskTerms, Policy, PolicyRule } from '../event/definition.ts';
import { EFFECT_KINDS } from '../event/effect-kind.ts';
import { DURATION_WORDS, durationMs } from './duration.ts';

const text = z.string().min(1);
const scalar = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a text, a number, true, false or null',
);

const CONDITION_TESTS = [
  'equals',
  'oneOf',
  'atMost',
  'atLeast',
  'domainIn',
  'hostIn',
  'below',
  'only',
] as const;

const condition = z
  .strictObject({
    at: z.string().regex(/^(\/.*)?$/, 'must be a JSON Pointer, as in "/to"'),
    equals: scalar.optional(),
    oneOf: z.array(z.union([z.string(), z.number()])).optional(),
    atMost: z.number().optional(),
    atLeast: z.number().optional(),
    domainIn: z.array(text).optional(),
    hostIn: z.array(text).optional(),
    below: z.array(text).optional(),
    only: z.array(z.string()).optional(),
  })
  .refine((one) => CONDITION_TESTS.filter((test) => one[test] !== undefined).length === 1, {
    message: `a condition holds "at" and one of ${CONDITION_TESTS.join(', ')}`,
  });

const duration = z
  .string(`must be ${DURATION_WORDS}`)
  .refine((given) => durationMs(given) !== undefined, { message: `must be ${DURATION_WORDS}` });

const asked = z.strictObject({
  by: z.array(text).min(1).optional(),
  fourEyes: z.boolean().optional(),
  expires: duration.optional(),
  escalate: z.strictObject({ after: duration, to: z.array(text).min(1) }).optional(),
});

const rule = z.strictObject({
  id: text,
  tools: z.array(text).optional(),
  effects: z.array(z.enum(EFFECT_KINDS)).optional(),
  egress: z.boolean().optional(),
  seen: z
    .array(z.enum(['untrusted', 'private']))
    .min(1)
    .optional(),
  when: z.array(condition).optional(),
  do: z.enum(['allow', 'ask', 'deny']),
  reason: text.optional(),
  ask: asked.optional(),
});

const rules = z.array(rule, 'must be a list of rules, or { rules, ask }');

/** The schema of the form that a value has. */
export const policySchema = (policy: unknown): z.ZodType =>
  typeof policy === 'object' && policy !== null && !Array.isArray(policy)
    ? z.strictObject({ rules, ask: asked.optional() })
    : rules;

/** What the schema has accepted. */
export type PolicyInFile =
  | readonly RuleInFile[]
  | { readonly rules: readonly RuleInFile[]; readonly ask?: AskedInFile };

/** How a file says who may decide and until when: lengths of time as people write them. */
type AskedInFile = {
  readonly by?: readonly string[];
  readonly fourEyes?: boolean;
  readonly expires?: string;
  readonly escalate?: { readonly after: string; readonly to: readonly string[] };
};

type RuleInFile = Omit<PolicyRule, 'ask'> & { readonly ask?: AskedInFile };

const askOf = (given: AskedInFile | undefined): { readonly ask?: AskTerms } => {
  if (given === undefined) return {};
  const { expires, escalate, ...rest } = given;
  const expiresMs = expires === undefined ? undefined : durationMs(expires);
  const afterMs = escalate === undefined ? undefined : durationMs(escalate.after);
  return {
    ask: {
      ...rest,
      ...(expiresMs !== undefined && { expiresMs }),
      ...(escalate && afterMs !== undefined && { escalate: { afterMs, to: escalate.to } }),
    },
  };
};

export const policyIn = (given: PolicyInFile): Policy => {
  const all = 'rules' in given ? given.rules : given;
  const asks = 'rules' in given ? askOf(given.ask) : {};
  return { rules: all.map(({ ask, ...rest }) => ({ ...rest, ...askOf(ask) })), ...asks };
};
