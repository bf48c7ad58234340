/**
 * What a run did, without its noise: the signature that two runs are compared by. Declared noise is left out:
 * wording of answers, reasoning, ids, labels, times, durations, event numbers, and the order of reads between two
 * writes. A scenario may declare more of it.
 */
import { digestOf, canonical, type Digest } from '../../event/canonical.ts';
import type { AgentDefinition, ToolDefinition } from '../../event/definition.ts';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import type { Closing } from '../../session/state.ts';
import { toolOf } from '../../session/state.ts';
import type { Trace, TracedCall, TracedStep, TracedTurn } from '../../rehearse/trace.ts';
import type { NoiseText } from './scenario.ts';

/** Said in every report: what is never a difference. */
export const NOISE: readonly string[] = [
  'wording of answers and reasoning',
  'ids of sessions, calls and responses',
  'times, durations and event numbers',
  'order of reads between two writes',
  'digests, UUIDs and session ids within arguments',
];

export type Deed = {
  readonly kind: 'call' | 'read' | 'turn';
  readonly turn: number;
  readonly step: number | undefined;
  /** The event that stands for it. */
  readonly seq: number;
  /** In a few words: "mail.draft", "turn done". */
  readonly what: string;
  /** What is compared. */
  readonly value: JsonObject;
};

/** What of an agent's definition a difference can come from; each a digest. */
export type Aspects = {
  readonly name: string;
  readonly instructions: Digest;
  /** By tool and by part of its definition. */
  readonly tools: Readonly<Record<string, Readonly<Record<string, Digest>>>>;
  readonly policy: Readonly<Record<string, Digest>>;
  readonly limits: Digest;
  readonly context: Digest;
};

export const aspectsOf = (agent: AgentDefinition): Aspects => ({
  name: agent.name,
  instructions: digestOf(agent.instructions),
  tools: Object.fromEntries(agent.tools.map((tool) => [tool.name, partsOf(tool)])),
  policy: Object.fromEntries(agent.policy.rules.map((rule, at) => [rule.id, digestOf({ ...rule, at })])),
  limits: digestOf(agent.limits),
  context: digestOf({ context: agent.context ?? {}, ask: agent.policy.ask ?? {} }),
});

/** Under another name it is the same tool: name and digest, which has the name in it, are no parts. */
const partsOf = ({
  description,
  inputSchema,
  effect,
  name,
  digest,
  ...rest
}: ToolDefinition): Aspects['tools'][string] => {
  void [name, digest];
  return {
    description: digestOf(description),
    inputSchema: digestOf(inputSchema),
    effect: digestOf(effect),
    rest: digestOf(rest),
  };
};

export const callsOfStep = ({ calls, inner }: TracedStep): readonly TracedCall[] =>
  inner.length === 0 ? calls : [...calls, ...inner].toSorted((one, other) => one.seq - other.seq);

export type Played = {
  readonly trace: Trace;
  readonly agent: AgentDefinition;
  /** The event that ended each turn. */
  readonly ends: ReadonlyMap<number, number>;
};

export const deedsOf = ({ trace, agent, ends }: Played, noise: NoiseText): readonly Deed[] => {
  const { reads = 'order' } = noise;
  const found: Deed[] = [];
  let gathered: Deed[] = [];
  const flush = (): void => {
    if (reads === 'order') found.push(...unique(gathered));
    gathered = [];
  };
  for (const turn of trace.turns) {
    for (const traced of turn.steps)
      for (const call of callsOfStep(traced)) {
        const deed = callDeed(call, { turn: turn.turn, step: traced.step, noise, agent });
        if (deed.kind === 'call' || reads === 'none') {
          flush();
          found.push(deed);
        } else gathered.push(deed);
      }
    flush();
    found.push(turnDeed({ ...turn, seq: ends.get(turn.turn) ?? turn.seq }));
  }
  return found;
};

/** In a fixed order, each once. */
const unique = (reads: readonly Deed[]): readonly Deed[] => {
  const byValue = new Map(reads.toReversed().map((deed) => [canonical(deed.value), deed]));
  return [...byValue].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, deed]) => deed);
};

type Place = {
  readonly turn: number;
  readonly step: number;
  readonly noise: NoiseText;
  readonly agent: AgentDefinition;
};

export const isWrite = (agent: AgentDefinition, tool: string): boolean =>
  (toolOf(agent, tool)?.effect ?? 'once') !== 'none';

const callDeed = (call: TracedCall, { turn, step, noise, agent }: Place): Deed => {
  const { tool, args, verdict, decision, closing, seq } = call;
  return {
    kind: isWrite(agent, tool) ? 'call' : 'read',
    turn,
    step,
    seq,
    what: tool,
    value: {
      tool,
      args: quiet(argsOf(args), tool, noise.words ?? []),
      verdict,
      ...(decision && { decided: decision.do }),
      end: endOf(closing),
    },
  };
};

const turnDeed = ({ turn, seq, outcome, reason }: TracedTurn): Deed => ({
  kind: 'turn',
  turn,
  step: undefined,
  seq,
  what: `turn ${outcome ?? 'open'}`,
  value: { outcome: outcome ?? 'open', ...(reason !== undefined && { reason }) },
});

/** ok, failed file-changed, rejected unknown-tool, ... */
export const endOf = (closing: Closing | undefined): string => {
  if (!closing) return 'open';
  switch (closing.kind) {
    case 'failed':
      return `failed ${closing.code}`;
    case 'rejected':
      return `rejected ${closing.reason}`;
    default:
      return closing.kind;
  }
};

/** Canonical text, or what the model wrote where that was no JSON. */
export const argsOf = (args: string): Json => {
  try {
    return JSON.parse(args) as Json;
  } catch {
    return args;
  }
};

const quiet = (args: Json, tool: string, words: readonly string[]): Json => {
  let quieted = withoutIds(args);
  for (const [of, pointer] of words.map((one) => one.split(' ', 2)))
    if (of === tool) quieted = without(quieted, (pointer ?? '').split('/').slice(1));
  return quieted;
};

const ID =
  /\b(?:s_[0-9A-HJKMNP-TV-Z]{8}|[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/g;

const withoutIds = (value: Json): Json => {
  if (typeof value === 'string') return value.replaceAll(ID, '(id)');
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, one === undefined ? one : withoutIds(one)]),
    );
  return Array.isArray(value) ? (value as readonly Json[]).map(withoutIds) : value;
};

const without = (value: Json, [first, ...rest]: readonly string[]): Json => {
  if (first === undefined) return '(words)';
  const name = first.replaceAll('~1', '/').replaceAll('~0', '~');
  if (isJsonObject(value)) {
    const member = value[name];
    return member === undefined ? value : { ...value, [name]: without(member, rest) };
  }
  if (!Array.isArray(value)) return value;
  return (value as readonly Json[]).map((one, i) => (String(i) === name ? without(one, rest) : one));
};
