/**
 * What follows from the calls that a call made: each of them is proposed or rejected, in order, as a call of the model
 * would be. The call that made them waits meanwhile; that it goes on is work: see next().
 */
import { checkSchema, decodeArguments } from '../effect/arguments.ts';
import { innerCallId } from '../event/call-id.ts';
import type { NewDecision } from '../event/events.ts';
import { proposal, unknownTool } from './conclude-proposal.ts';
import { joinLabels } from './labels.ts';
import { innerCalls, toolOf, type CallState, type SessionState, type TurnState } from './state.ts';

export const concludeInner = (
  state: SessionState,
  turn: TurnState,
  maker: CallState,
): NewDecision | undefined => {
  const made = innerCalls(turn, maker.id);
  const wanted = maker.asked[made.length];
  if (!wanted) return undefined;
  const most = state.agent.limits.innerCalls;
  if (maker.asked.length > most) return tooMany(maker, most);
  const head = { call: innerCallId(maker.id, made.length + 1), tool: wanted.tool, label: '' };
  const reject = (reason: string, message: string): NewDecision => ({
    type: 'call.rejected',
    data: { ...head, reason, message },
  });
  const tool = toolOf(state.agent, wanted.tool);
  if (!tool) return reject('unknown-tool', unknownTool(state.agent, wanted.tool));
  const { calls: allowed = [] } = toolOf(state.agent, maker.tool) ?? {};
  if (!allowed.includes(tool.name))
    return reject('not-callable', `${maker.tool} may make no calls of ${tool.name}. Nothing was run.`);
  if (tool.calls)
    return reject('calls-too-deep', `${tool.name} makes calls itself, so no call can make a call of it.`);
  const decoded = decodeArguments(wanted.args);
  if (!decoded.ok) return reject(decoded.reason, decoded.message);
  const problem = checkSchema(tool, decoded.value);
  if (problem !== undefined) return reject('arguments-schema', problem);
  const { value, canonical } = decoded;
  // What stood in the request, and what the calls before have said: all of it may be in these arguments.
  const seen = joinLabels(turn.request?.seen ?? [], maker.heard);
  return proposal(state, head, { tool, value, canonical, seen });
};

/** Nothing of what is over the limit is run; what was run before is said to the model with the failure. */
const tooMany = ({ id, attempt, asked }: CallState, most: number): NewDecision => ({
  type: 'call.failed',
  data: {
    call: id,
    attempt,
    code: 'too-many-calls',
    message: `It asked for ${asked.length} calls; the limit innerCalls is ${most}. The last of them were not run.`,
  },
});
