/**
 * Policy: data that says of a proposed call whether it may run, is asked about, or is denied. Rules look at
 * parsed arguments, never at text prefixes. A condition that cannot be judged does not hold for `allow` and
 * holds for nothing else either: the next rule, and in the end the default, decides.
 */
import type {
  AskTerms,
  Condition,
  Policy,
  PolicyRule,
  SeenLabel,
  ToolDefinition,
} from '../event/definition.ts';
import type { StrictValue } from '../event/strict.ts';

export type Verdict = {
  readonly do: 'run' | 'ask' | 'deny';
  /** The rule that decided; the built-in ones have names with a colon. */
  readonly rule: string;
  readonly reason?: string;
};

export const RULE_ALWAYS = 'tool:always-asks';
export const RULE_NEVER = 'tool:never-asks';
export const RULE_READS = 'default:no-effect';
export const RULE_EFFECTS = 'default:effect-asks';
/** The same call was in doubt before in this session: a second one is never made without a person. */
export const RULE_TWIN = 'runtime:same-call-was-in-doubt';

/** In front of the call whose approval gave leave for this one. */
export const RULE_GRANT = 'grant:';

/** What a rule looks at beside the tool: the parsed arguments, and labels of what stood in the request. */
export type Proposal = { readonly args: StrictValue; readonly seen: readonly SeenLabel[] };

export const judge = (policy: Policy, tool: ToolDefinition, proposal: Proposal): Verdict => {
  const rule = policy.rules.find((candidate) => matches(candidate, tool, proposal));
  if (rule?.do === 'deny') return verdict('deny', rule);
  // A rule that asks says how; the tool alone only says that.
  if (tool.approval === 'always' && rule?.do !== 'ask') return { do: 'ask', rule: RULE_ALWAYS };
  if (rule) return verdict(rule.do === 'allow' ? 'run' : 'ask', rule);
  if (tool.approval === 'never') return { do: 'run', rule: RULE_NEVER };
  return tool.effect === 'none' ? { do: 'run', rule: RULE_READS } : { do: 'ask', rule: RULE_EFFECTS };
};

const verdict = (doing: Verdict['do'], rule: PolicyRule): Verdict => ({
  do: doing,
  rule: rule.id,
  ...(rule.reason !== undefined && { reason: rule.reason }),
});

/** How the named rule asks: its own terms before those of the policy. */
export const askTerms = (policy: Policy, rule: string): AskTerms => ({
  ...policy.ask,
  ...policy.rules.find(({ id }) => id === rule)?.ask,
});

const matches = (rule: PolicyRule, tool: ToolDefinition, { args, seen }: Proposal): boolean =>
  (rule.tools?.some((pattern) => names(pattern, tool.name)) ?? true) &&
  (rule.effects?.includes(tool.effect) ?? true) &&
  (rule.egress === undefined || rule.egress === tool.egress) &&
  (rule.seen?.every((label) => seen.includes(label)) ?? true) &&
  (rule.when?.every((condition) => holds(condition, args, rule.do)) ?? true);

const names = (pattern: string, name: string): boolean =>
  pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** Of several values every one must fit before something is allowed; a single one is enough to ask or deny. */
const holds = (condition: Condition, args: StrictValue, doing: PolicyRule['do']): boolean =>
  doing === 'allow'
    ? fitsAll(condition, args)
    : resolve(args, condition.at).values.some((value) => fits(condition, value));

/** Whether there is a value at the condition's place, and every one that is there fits. */
export const fitsAll = (condition: Condition, args: StrictValue): boolean => {
  const { values, missing } = resolve(args, condition.at);
  return !missing && values.length > 0 && values.every((value) => fits(condition, value));
};

const fits = (condition: Condition, value: StrictValue): boolean => {
  if ('equals' in condition) return same(value, condition.equals);
  if ('oneOf' in condition) return condition.oneOf.some((one) => same(value, one));
  if ('atMost' in condition) return isNumber(value) && value <= condition.atMost;
  if ('atLeast' in condition) return isNumber(value) && value >= condition.atLeast;
  if ('only' in condition) return hasOnly(value, condition.only);
  if (typeof value !== 'string') return false;
  if ('domainIn' in condition) return condition.domainIn.some((domain) => inDomain(value, domain));
  if ('hostIn' in condition) return condition.hostIn.some((host) => host.toLowerCase() === hostOf(value));
  return condition.below.some((folder) => isBelow(value, folder));
};

/** A rule can name a whole number beyond 2^53 only as near as a double comes; what is that near counts as equal. */
const same = (value: StrictValue, wanted: string | number | boolean | null): boolean =>
  typeof value === 'bigint' ? Number(value) === wanted : value === wanted;

const hasOnly = (value: StrictValue, members: readonly string[]): boolean =>
  value !== null &&
  typeof value === 'object' &&
  Object.keys(value).every((member) => members.includes(member));

const isNumber = (value: StrictValue): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** One plain address only: a display name or a list could hide a second recipient from the rule. */
const inDomain = (address: string, domain: string): boolean => {
  const found = /^[^\s@<>,;"]+@([A-Za-z0-9.-]+)$/.exec(address)?.[1]?.toLowerCase();
  return (
    found !== undefined && (found === domain.toLowerCase() || found.endsWith(`.${domain.toLowerCase()}`))
  );
};

const hostOf = (text: string): string | undefined =>
  URL.canParse(text) ? new URL(text).hostname.replace(/\.$/, '') : undefined;

const isBelow = (path: string, folder: string): boolean => {
  const steps = path.split('/');
  if (path.startsWith('/') || path.includes('\\') || path.includes('\0')) return false;
  if (steps.includes('..') || steps.includes('.')) return false;
  const base = folder.replace(/\/$/, '');
  return path === base || path.startsWith(`${base}/`);
};

type Resolved = {
  readonly values: readonly StrictValue[];
  /** Some item had nothing at the path. */
  readonly missing: boolean;
};

/** The values at a JSON Pointer; "*" stands for every item of an array. */
const resolve = (value: StrictValue, pointer: string): Resolved => {
  let found: StrictValue[] = [value];
  let missing = false;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const next = found.map((item) => children(item, key));
    missing ||= next.some((items) => items.length === 0);
    found = next.flat();
  }
  return { values: found, missing };
};

const children = (item: StrictValue, key: string): readonly StrictValue[] => {
  if (item === null || typeof item !== 'object') return [];
  if (Array.isArray(item)) {
    if (key === '*') return item;
    return /^(0|[1-9]\d*)$/.test(key) && Number(key) < item.length ? [item[Number(key)] as StrictValue] : [];
  }
  return Object.hasOwn(item, key) ? [item[key] as StrictValue] : [];
};
