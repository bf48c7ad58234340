/** What follows from a model's response: every call it asks for is proposed or rejected, in order. */
import { checkSchema, decodeArguments } from '../effect/arguments.ts';
import { askTerms, fitsAll, judge, RULE_GRANT, RULE_TWIN, type Verdict } from '../effect/policy.ts';
import { callId, makerOf } from '../event/call-id.ts';
import type { StopReason } from '../event/content.ts';
import type { AgentDefinition, SeenLabel, ToolDefinition } from '../event/definition.ts';
import type { EventData, NewDecision } from '../event/events.ts';
import type { StrictValue } from '../event/strict.ts';
import { mayGrant } from './may-decide.ts';
import {
  toolOf,
  twin,
  type CallState,
  type GrantState,
  type ResponseState,
  type SessionState,
  type TurnState,
} from './state.ts';

/** A response that stopped for another reason is no answer, whatever it asks for. */
const RUNS_CALLS: ReadonlySet<StopReason> = new Set(['end', 'calls', 'length', 'stop-sequence', 'paused']);

export const concludeProposal = (state: SessionState, turn: TurnState): NewDecision | undefined => {
  const { response } = turn;
  const index = turn.calls.length;
  const call = response?.calls[index];
  if (!response || !call) return undefined;
  const id = callId(turn.turn, turn.step, index + 1);
  const head = { call: id, tool: call.name, label: call.label };
  const reject = (reason: string, message: string): NewDecision => ({
    type: 'call.rejected',
    data: { ...head, reason, message },
  });
  if (turn.cancel) return reject('cancelled', 'The turn was cancelled. This call was not run.');
  if (!RUNS_CALLS.has(response.stop))
    return reject(
      'response-broken-off',
      `The response stopped with ${response.stop}. Its calls were not run.`,
    );
  const { limits } = state.agent;
  if (index >= limits.callsPerStep)
    return reject(
      'too-many-calls',
      `Only the first ${limits.callsPerStep} calls of a step are run. This one was not.`,
    );
  if (turn.repeats > limits.repeatedCalls)
    return reject(
      'repeated-call',
      `The same calls with the same arguments ran ${limits.repeatedCalls} times in a row; the result will not change. ` +
        'This call was not run. Do something else, or answer with what you know.',
    );
  const tool = toolOf(state.agent, call.name);
  if (!tool) return reject('unknown-tool', unknownTool(state.agent, call.name));
  const usable = usableArguments(state, response, index, tool);
  if (!usable.ok) return reject(usable.reason, usable.message);
  const { value, canonical } = usable;
  return proposal(state, head, { tool, value, canonical, seen: turn.request?.seen ?? [] });
};

type Head = Pick<EventData['call.proposed'], 'call' | 'tool' | 'label'>;

type Judged = {
  readonly tool: ToolDefinition;
  readonly value: StrictValue;
  readonly canonical: string;
  readonly seen: readonly SeenLabel[];
};

/** What policy makes of a call whose arguments can be used. */
export const proposal = (state: SessionState, head: Head, judged: Judged): NewDecision => {
  const { seen } = judged;
  const verdict = judgeCall(state, judged);
  if (verdict.do === 'deny')
    return {
      type: 'call.rejected',
      data: { ...head, reason: 'denied-by-policy', message: denial(verdict) },
    };
  return {
    type: 'call.proposed',
    data: { ...head, do: verdict.do, rule: verdict.rule, ...(seen.length > 0 && { seen }) },
  };
};

export const unknownTool = (agent: AgentDefinition, name: string): string => {
  const known = agent.tools.map((tool) => tool.name).join(', ');
  return `There is no tool called "${name}". Offered are: ${known === '' ? 'none' : known}. Nothing was run.`;
};

type Usable =
  | { readonly ok: true; readonly value: StrictValue; readonly canonical: string }
  | { readonly ok: false; readonly reason: string; readonly message: string };

const usableArguments = (
  { agent }: SessionState,
  response: ResponseState,
  index: number,
  tool: ToolDefinition,
): Usable => {
  const args = response.calls[index]?.args ?? '';
  const last = response.endsInCall && index === response.calls.length - 1;
  const decoded = decodeArguments(args);
  // The stop reason is read first: at the output limit, an empty or broken text is a cut one.
  if (last && response.stop === 'length' && (!decoded.ok || args.trim() === ''))
    return {
      ok: false,
      reason: 'arguments-truncated',
      message:
        'The output limit cut this call off before its arguments were complete. Nothing was run. ' +
        'Send it again with a smaller payload, in several calls if need be.',
    };
  const broken = decoded.ok ? args.trim() === '' : decoded.reason === 'arguments-invalid-json';
  if (last && broken && isAtLimit(agent, response))
    return {
      ok: false,
      reason: 'arguments-truncated-suspected',
      message:
        'The arguments of this call are not complete, and the answer is as long as the output limit allows: it ' +
        'was probably cut off. Nothing was run. Send it again with a smaller payload, in several calls if need be.',
    };
  if (!decoded.ok) return decoded;
  const problem = checkSchema(tool, decoded.value);
  return problem === undefined ? decoded : { ok: false, reason: 'arguments-schema', message: problem };
};

/** What providers call the most tokens of one answer. */
const OUTPUT_LIMITS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
] as const;

/** Some servers say that a call is complete although they have cut it: the count of tokens says otherwise. */
const isAtLimit = ({ model }: AgentDefinition, { outputTokens = 0 }: ResponseState): boolean =>
  OUTPUT_LIMITS.some((name) => {
    const most = model.params[name];
    return typeof most === 'number' && outputTokens >= most;
  });

/** Policy, and above it the rule that a twin of a call that was in doubt is never made without a person. */
const judgeCall = (state: SessionState, { tool, value, canonical, seen }: Judged): Verdict => {
  const judged = judge(state.agent.policy, tool, { args: value, seen });
  const wasInDoubt = tool.effect !== 'none' && state.doubted.includes(twin(tool.name, canonical));
  if (judged.do === 'run') return wasInDoubt ? { do: 'ask', rule: RULE_TWIN } : judged;
  // Whoever a rule asks is asked about a twin, too, whatever leave was given before.
  const grant = judged.do === 'ask' && !wasInDoubt ? grantFor(state, tool, value, judged.rule) : undefined;
  return grant ? { do: 'run', rule: `${RULE_GRANT}${grant.call}` } : judged;
};

/** Leave for the very rule that asks, from somebody whom it would ask now, for this definition of the tool, not run out, and for arguments like these. */
const grantFor = (
  state: SessionState,
  tool: ToolDefinition,
  value: StrictValue,
  rule: string,
): GrantState | undefined =>
  state.grants.find(
    (grant) =>
      grant.tool === tool.name &&
      grant.definition === tool.digest &&
      grant.rule === rule &&
      grant.expiresAt > state.lastAt &&
      mayGrant(state, askTerms(state.agent.policy, rule), grant.by) &&
      grant.when.every((condition) => fitsAll(condition, value)),
  );

const denial = ({ rule, reason }: Verdict): string =>
  `Policy does not allow this call (rule ${rule}${reason === undefined ? '' : `: ${reason}`}). It was not run.`;

/** After an edit, a settlement "it did not happen" or the end of a grant: schema and policy are asked again about what would run now. */
export const concludeReopened = (state: SessionState, call: CallState): NewDecision => {
  const head = { call: call.id, tool: call.tool, label: call.label };
  const reject = (reason: string, message: string): NewDecision => ({
    type: 'call.rejected',
    data: { ...head, reason, message },
  });
  const tool = toolOf(state.agent, call.tool);
  if (!tool) return reject('unknown-tool', unknownTool(state.agent, call.tool));
  const decoded = decodeArguments(call.args);
  if (!decoded.ok) return reject(decoded.reason, decoded.message);
  const problem = checkSchema(tool, decoded.value);
  if (problem !== undefined) return reject('arguments-schema', problem);
  // An inner call keeps the labels that it was proposed with; the request is the same for all others.
  const seen = makerOf(call.id) === undefined ? (state.active?.request?.seen ?? []) : call.seen;
  const verdict = judgeCall(state, { tool, value: decoded.value, canonical: call.args, seen });
  if (verdict.do === 'deny') return reject('denied-by-policy', denial(verdict));
  // Whoever edited has seen these arguments: the rule that asked is answered, any other asks anew. Whoever said
  // that it did not happen has looked at this very call: as a twin of itself it is not asked about.
  const settled = call.doubt !== undefined && verdict.rule === RULE_TWIN;
  const answered = call.digest === undefined ? settled : verdict.rule === call.rule;
  const run = verdict.do === 'run' || answered;
  return {
    type: 'call.proposed',
    data: {
      ...head,
      args: call.args,
      do: run ? 'run' : 'ask',
      rule: verdict.rule,
      ...(call.seen.length > 0 && { seen: call.seen }),
    },
  };
};
