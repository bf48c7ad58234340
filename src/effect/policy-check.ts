/** What is wrong with a policy, before it judges anything: a rule that never matches is a gate that is not there. */
import { EFFECT_KINDS } from '../event/effect-kind.ts';
import type { AskTerms, Condition, Policy, PolicyRule } from '../event/definition.ts';

const RULE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const OPERATORS = ['equals', 'oneOf', 'atMost', 'atLeast', 'domainIn', 'hostIn', 'below', 'only'] as const;
const LISTS: ReadonlySet<string> = new Set(['oneOf', 'domainIn', 'hostIn', 'below']);
const NUMBERS: ReadonlySet<string> = new Set(['atMost', 'atLeast']);

/** One sentence about the first problem; undefined where there is none. */
export const policyProblem = (policy: Policy): string | undefined => {
  if (!Array.isArray(policy.rules)) return 'policy must be { rules: [...] }';
  const terms = policy.ask && termsProblem(policy.ask);
  if (terms !== undefined) return `policy ${terms}`;
  const ids = new Set<string>();
  for (const rule of policy.rules as readonly PolicyRule[]) {
    const problem = ids.has(rule.id) ? 'stands twice' : ruleProblem(rule, policy.ask);
    if (problem !== undefined) return `policy rule "${String(rule.id)}" ${problem}`;
    ids.add(rule.id);
  }
  return undefined;
};

const ruleProblem = (rule: PolicyRule, general?: AskTerms): string | undefined => {
  if (typeof rule.id !== 'string' || !RULE_ID.test(rule.id))
    return 'needs an id of letters, digits, ".", "_" and "-"; names with ":" are the built-in rules';
  if (!['allow', 'ask', 'deny'].includes(rule.do))
    return `says do: "${String(rule.do)}", which is none of allow, ask, deny`;
  const effect = rule.effects?.find((one) => !EFFECT_KINDS.includes(one));
  if (effect !== undefined)
    return `names the effect "${String(effect)}", which is none of ${EFFECT_KINDS.join(', ')}`;
  const label = rule.seen?.find((one) => one !== 'untrusted' && one !== 'private');
  if (label !== undefined)
    return `looks for the label "${String(label)}", which is none of untrusted, private`;
  if (rule.ask && rule.do !== 'ask') return `has terms for a question, but says do: "${rule.do}"`;
  // What a rule does not say of its own, the policy says: together they must make sense.
  const terms = rule.ask && (termsProblem(rule.ask) ?? termsProblem({ ...general, ...rule.ask }));
  if (terms !== undefined) return terms;
  for (const condition of rule.when ?? []) {
    const problem = conditionProblem(condition);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const termsProblem = (terms: AskTerms): string | undefined => {
  const { by, expiresMs, escalate } = terms;
  // A single name instead of a list would be read letter by letter.
  if (![by ?? [], escalate ? escalate.to : []].every(Array.isArray))
    return 'asks people that are no list of names';
  const names = [...(by ?? []), ...(escalate?.to ?? [])];
  if (by?.length === 0 || escalate?.to.length === 0) return 'asks nobody: name at least one person or role';
  const odd = names.find((name) => typeof name !== 'string' || name === '' || name === 'role:');
  if (odd !== undefined) return `asks "${String(odd)}", which is no name of a person and no "role:NAME"`;
  for (const ms of [expiresMs, escalate?.afterMs])
    if (ms !== undefined && (!Number.isInteger(ms) || ms < 1))
      return `waits for "${String(ms)}" ms, which is no whole number from 1 up`;
  if (expiresMs !== undefined && escalate && escalate.afterMs >= expiresMs)
    return 'escalates after the question has lapsed';
  return undefined;
};

/** What is wrong with a condition; undefined where nothing is. */
export const conditionProblem = (condition: Condition): string | undefined => {
  const { at, ...rest } = condition as Condition & Record<string, unknown>;
  if (typeof at !== 'string' || (at !== '' && !at.startsWith('/')))
    return `has a condition at "${String(at)}", which is no JSON Pointer: "/recipient" or "/to/*/address"`;
  const [name, ...more] = Object.keys(rest);
  if (name === undefined || more.length > 0 || !OPERATORS.some((operator) => operator === name))
    return `has a condition at "${at}" that must have exactly one of ${OPERATORS.join(', ')}`;
  const value = (rest as Record<string, unknown>)[name];
  if (LISTS.has(name) && (!Array.isArray(value) || value.length === 0))
    return `has "${name}" at "${at}", which must be a list that is not empty`;
  if (name === 'only' && (!Array.isArray(value) || value.some((member) => typeof member !== 'string')))
    return `has "only" at "${at}", which must be a list of names`;
  if (NUMBERS.has(name) && typeof value !== 'number')
    return `has "${name}" at "${at}", which must be a number`;
  return undefined;
};
