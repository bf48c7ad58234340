/** The rules of one history: tools, people, and the policies that one deployment after the other brings. */
import type {
  AskTerms,
  Condition,
  Policy,
  PolicyRule,
  SeenLabel,
  ToolDefinition,
} from '../../event/definition.ts';
import type { Actor } from '../../event/content.ts';
import type { EffectKind } from '../../event/effect-kind.ts';
import { Dice } from './dice.ts';

export type ToolPlan = {
  readonly name: string;
  readonly effect: EffectKind;
  readonly approval: ToolDefinition['approval'];
  readonly labels: { readonly untrusted?: boolean; readonly private?: boolean };
  readonly egress: boolean;
};

/** What one build of the program brings. */
export type Deployment = { readonly policy: Policy; readonly tools: readonly ToolPlan[] };

export type Regime = { readonly deployments: readonly Deployment[] };

export const TOOL_KINDS: readonly (readonly [name: string, effect: EffectKind])[] = [
  ['look', 'none'],
  ['put', 'idempotent'],
  ['file', 'reconcilable'],
  ['send', 'once'],
  ['pay', 'once'],
];

/** A tool that does all by calls of the others. */
export const ERRAND = 'errand';

export const RECIPIENTS = ['a', 'b', 'c'] as const;

/** The first of them asks most often; the last may decide about nothing that names anybody. */
export const PEOPLE: readonly Actor[] = [
  { kind: 'person', name: 'ada' },
  { kind: 'person', name: 'ben' },
  { kind: 'person', name: 'cara', roles: ['cfo', 'clerk'] },
  { kind: 'person', name: 'dan', roles: ['clerk'] },
  { kind: 'person', name: 'mallory' },
];

const APPROVERS: readonly (readonly string[])[] = [
  ['ben'],
  ['role:cfo'],
  ['role:clerk', 'ada'],
  ['ben', 'role:cfo'],
];
/** Escalation comes before any deadline, whichever rule and policy they are taken from. */
const ESCALATE_MS = [500, 1000] as const;
const EXPIRES_MS = [1200, 4000, 600_000] as const;
const RULES_MAX = 5;
const DEPLOYMENTS = 3;

/** Some histories have no rules at all: there the tools alone say what asks. */
export const regimeOf = (seed: number): Regime => {
  const dice = new Dice(seed);
  if (dice.happens(0.3)) return { deployments: [{ policy: { rules: [] }, tools: plainTools }] };
  const tools = TOOL_KINDS.map(([name, effect]) => toolPlan(dice, name, effect));
  return {
    deployments: Array.from({ length: dice.whole(1, DEPLOYMENTS) }, () => ({
      policy: policy(dice),
      tools: dice.happens(0.5) ? tools : tools.map((tool) => ({ ...tool, approval: approval(dice) })),
    })),
  };
};

const plainTools: readonly ToolPlan[] = TOOL_KINDS.map(([name, effect]) => ({
  name,
  effect,
  approval: name === 'pay' ? 'always' : 'never',
  labels: {},
  egress: false,
}));

const approval = (dice: Dice): ToolPlan['approval'] =>
  dice.happens(0.6) ? 'policy' : dice.pick(['never', 'always']);

const toolPlan = (dice: Dice, name: string, effect: EffectKind): ToolPlan => ({
  name,
  effect,
  approval: approval(dice),
  labels: {
    ...(dice.happens(effect === 'none' ? 0.6 : 0.15) && { untrusted: true }),
    ...(dice.happens(0.15) && { private: true }),
  },
  egress: effect !== 'none' && dice.happens(0.5),
});

const policy = (dice: Dice): Policy => ({
  rules: Array.from({ length: dice.whole(0, RULES_MAX) }, (_, i) => rule(dice, `r${i}`)),
  ...(dice.happens(0.5) && { ask: terms(dice) }),
});

const rule = (dice: Dice, id: string): PolicyRule => {
  const doing = dice.pick(['allow', 'allow', 'allow', 'ask', 'ask', 'ask', 'deny'] as const);
  return {
    id,
    do: doing,
    ...(dice.happens(0.3) && {
      tools: [dice.pick(TOOL_KINDS)[0], ...(dice.happens(0.5) ? [dice.pick(TOOL_KINDS)[0]] : [])],
    }),
    ...(dice.happens(0.2) && {
      effects: [dice.pick(['none', 'idempotent', 'reconcilable', 'once'] as const)],
    }),
    ...(dice.happens(0.15) && { egress: dice.happens(0.7) }),
    ...(dice.happens(0.2) && {
      seen: dice.pick<readonly SeenLabel[]>([['untrusted'], ['private'], ['untrusted', 'private']]),
    }),
    ...(dice.happens(0.6) && { when: [condition(dice), ...(dice.happens(0.2) ? [condition(dice)] : [])] }),
    ...(doing === 'ask' && dice.happens(0.8) && { ask: terms(dice) }),
  };
};

/** One that can hold for some of the numbers and recipients that a model asks for. */
export const condition = (dice: Dice): Condition =>
  dice.pick<Condition>([
    { at: '/n', atMost: dice.whole(0, 6) },
    { at: '/n', atLeast: dice.whole(1, 6) },
    { at: '/n', equals: dice.whole(0, 4) },
    { at: '/n', oneOf: [dice.whole(0, 9), dice.whole(0, 9)] },
    { at: '/to', equals: dice.pick(RECIPIENTS) },
    { at: '/to', oneOf: [dice.pick(RECIPIENTS), dice.pick(RECIPIENTS)] },
  ]);

const terms = (dice: Dice): AskTerms => ({
  ...(dice.happens(0.55) && { by: dice.pick(APPROVERS) }),
  ...(dice.happens(0.4) && { fourEyes: true }),
  ...(dice.happens(0.5) && { expiresMs: dice.pick(EXPIRES_MS) }),
  ...(dice.happens(0.4) && { escalate: { afterMs: dice.pick(ESCALATE_MS), to: dice.pick(APPROVERS) } }),
});
