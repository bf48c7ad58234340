/** Where two runs of one scenario first did otherwise: both sides, what came before, and the likely cause. */
import { canonical, isSame } from '../../event/canonical.ts';
import type { Json } from '../../event/json.ts';
import { firstDifference } from '../../replay/difference.ts';
import type { Aspects, Deed } from './deeds.ts';

/** Deeds in common that are shown before a difference. */
export const BEFORE_MAX = 3;

/** What of a run is compared. */
export type Signature = { readonly deeds: readonly Deed[]; readonly aspects: Aspects };

export type DivergenceArea =
  | 'prompt'
  | 'tool'
  | 'policy'
  | 'limits'
  | 'context'
  | 'order'
  | 'model'
  | 'world';

export type Divergence = {
  /** Undefined where one side did nothing more, and where only the definitions of the agents differ. */
  readonly one: Deed | undefined;
  readonly other: Deed | undefined;
  /** JSON Pointer into both values, or into the definition. */
  readonly path: string;
  readonly values: readonly [Json | undefined, Json | undefined];
  /** The last deeds in common. */
  readonly before: readonly Deed[];
  /** How many deeds were the same. */
  readonly same: number;
  /** What the definitions of the agents differ in, which the first request has already; in words, and by path. */
  readonly definitions: readonly { readonly path: string; readonly text: string }[];
  readonly area: DivergenceArea;
  /** One clause for people. */
  readonly cause: string;
};

export const divergenceOf = (one: Signature, other: Signature): Divergence | undefined => {
  const length = Math.max(one.deeds.length, other.deeds.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.deeds[at], other.deeds[at]];
    if (left && right && isSame(left.value, right.value)) continue;
    const { path, values } = differing(left, right);
    return {
      one: left,
      other: right,
      path,
      values,
      before: one.deeds.slice(Math.max(0, at - BEFORE_MAX), at),
      same: at,
      definitions: definitionsOf(one, other),
      ...causeOf([one, other], [left, right], path),
    };
  }
  return definitionOnly(one, other);
};

/** Members in the order in which one leads to the next. */
const LEADS = ['tool', 'args', 'verdict', 'decided', 'end', 'outcome', 'reason'] as const;

const differing = (left: Deed | undefined, right: Deed | undefined): Pick<Divergence, 'path' | 'values'> => {
  if (!left || !right) return { path: '', values: [left?.value, right?.value] };
  const name = LEADS.find((one) => !isSame(left.value[one], right.value[one]));
  if (name === undefined) return { path: '', values: [left.value, right.value] };
  const { path, recorded, now } = firstDifference(left.value[name] ?? null, right.value[name] ?? null);
  return { path: `/${name}${path}`, values: [recorded, now] };
};

type Cause = Pick<Divergence, 'area' | 'cause'>;

/** The same deeds by another definition: the first event, which says who the agent is, has it. */
const definitionOnly = (one: Signature, other: Signature): Divergence | undefined => {
  const [first] = changes(one.aspects, other.aspects);
  if (!first) return undefined;
  const definitions = definitionsOf(one, other);
  const none = { definitions, one: undefined, other: undefined, before: [], same: one.deeds.length };
  const values = [first.values[0] ?? null, first.values[1] ?? null] as const;
  return {
    ...none,
    path: `/agent${first.path}`,
    values,
    area: first.area,
    cause: `${first.text}; nothing was done otherwise`,
  };
};

const definitionsOf = (one: Signature, other: Signature): Divergence['definitions'] =>
  changes(one.aspects, other.aspects).map(({ path, text }) => ({ path: `/agent${path}`, text }));

type Change = {
  readonly area: DivergenceArea;
  readonly path: string;
  readonly text: string;
  readonly names: readonly string[];
  readonly values: readonly [string | undefined, string | undefined];
};

const changes = (one: Aspects, other: Aspects): readonly Change[] => {
  const plain = (
    area: DivergenceArea,
    name: 'instructions' | 'limits' | 'context',
    text: string,
  ): readonly Change[] =>
    one[name] === other[name]
      ? []
      : [{ area, path: `/${name}`, text, names: [], values: [one[name], other[name]] }];
  return [
    ...toolChanges(one.tools, other.tools),
    ...named(one.policy, other.policy).map(({ name, how, values }): Change => ({
      area: 'policy',
      path: `/policy/${name}`,
      text: `the policy: rule ${name} is ${how}`,
      names: [name],
      values,
    })),
    ...plain('prompt', 'instructions', 'the prompt: the instructions are others'),
    ...plain('limits', 'limits', 'the limits of the agent are others'),
    ...plain('context', 'context', 'what requests hold, or how people are asked, is planned otherwise'),
  ];
};

type Named = {
  readonly name: string;
  readonly how: 'dropped' | 'new' | 'changed';
  readonly values: readonly [string | undefined, string | undefined];
};

const named = (
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): readonly Named[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((name) => one[name] !== other[name])
    .map((name): Named => {
      const how = other[name] === undefined ? 'dropped' : one[name] === undefined ? 'new' : 'changed';
      return { name, how, values: [one[name], other[name]] };
    })
    // A rule that is gone moves those behind it: what is gone or new says more than what has moved.
    .sort((left, right) => Number(left.how === 'changed') - Number(right.how === 'changed'));

const toolChanges = (left: Aspects['tools'], right: Aspects['tools']): readonly Change[] => {
  const [one, other] = [left, right].map((tools) =>
    Object.fromEntries(Object.entries(tools).map(([name, parts]) => [name, canonical(parts)])),
  );
  const all = named(one ?? {}, other ?? {});
  const made = all.filter(({ how }) => how === 'new');
  return all.flatMap(({ name, how, values }): readonly Change[] => {
    const now = how === 'dropped' ? made.find((tool) => tool.values[1] === values[0]) : undefined;
    // Said with the tool whose new name it is.
    if (how === 'new' && all.some((tool) => tool.how === 'dropped' && tool.values[0] === values[1]))
      return [];
    const parts = how === 'changed' ? partsApart(left[name], right[name]) : [];
    const words = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
    const text = now ? `the tool ${name} is called ${now.name}` : `the tool ${name} is ${how}${words}`;
    const path = parts.length === 1 ? `/tools/${name}/${parts[0] ?? ''}` : `/tools/${name}`;
    return [{ area: 'tool', path, text, names: now ? [name, now.name] : [name], values }];
  });
};

type Parts = Aspects['tools'][string] | undefined;

const partsApart = (one: Parts, other: Parts): readonly string[] =>
  Object.keys({ ...one, ...other }).filter((part) => one?.[part] !== other?.[part]);

type Sides = readonly [Deed | undefined, Deed | undefined];

const causeOf = ([one, other]: readonly [Signature, Signature], sides: Sides, path: string): Cause => {
  const all = changes(one.aspects, other.aspects);
  const of = (area: DivergenceArea): Change | undefined => all.find((change) => change.area === area);
  const tools = sides.map((deed) => deed?.value['tool']);
  const tool = all.find(({ area, names }) => area === 'tool' && names.some((name) => tools.includes(name)));
  if (tool) return said(tool);
  const [left, right] = sides;
  const sameCall = left && right && left.kind !== 'turn' && /^\/(?:verdict|decided|end)/.test(path);
  if (sameCall) {
    const policy = of('policy');
    if (path === '/end')
      return policy && wasDecided(sides) ? said(policy) : { area: 'world', cause: worldCause(sides) };
    return policy ? said(policy) : { area: 'world', cause: 'the call was judged or answered otherwise' };
  }
  if (left?.kind === 'turn' && right?.kind === 'turn') {
    const limits = of('limits');
    if (limits) return said(limits);
  }
  const order = swapped(one, other, sides);
  if (order !== undefined) return { area: 'order', cause: order };
  const [change] = all;
  return change ? said(change) : { area: 'model', cause: modelCause(sides) };
};

const said = ({ area, text }: Change): Cause => ({ area, cause: text });

const endText = (deed: Deed | undefined): string => {
  const end = deed?.value['end'];
  return typeof end === 'string' ? end : '';
};

const wasDecided = (sides: Sides): boolean =>
  sides.some((deed) => /^(?:denied|rejected|responded)/.test(endText(deed)));

const worldCause = ([left, right]: Sides): string =>
  `the same call ended otherwise: ${endText(left)} here, ${endText(right)} there`;

/** Both did both, the other way round; a read counts where the other is a write. */
const swapped = (one: Signature, other: Signature, [left, right]: Sides): string | undefined => {
  if (!left || !right || left.kind === 'turn' || right.kind === 'turn') return undefined;
  if (left.kind === 'read' && right.kind === 'read') return undefined;
  const did = ({ deeds }: Signature, deed: Deed): boolean =>
    deeds.some(({ value }) => isSame(value, deed.value));
  if (!did(one, right) || !did(other, left)) return undefined;
  const what = left.kind === right.kind ? 'writes' : 'calls';
  return `the order of ${what}: ${left.what} came before ${right.what}, and now comes after it`;
};

const modelCause = ([left, right]: Sides): string => {
  if (!left || !right) return `the model went on where the other had ended: ${(left ?? right)?.what ?? ''}`;
  if (left.what !== right.what) return `the model chose otherwise: ${left.what} here, ${right.what} there`;
  return left.kind === 'turn' ? 'the turn ended otherwise' : `the model gave ${left.what} other arguments`;
};
