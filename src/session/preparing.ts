/** When a tool is asked for its preview: before a question, before a start that needs one, and again after a yes. */
import { modeOf, toolOf, type CallState, type SessionState } from './state.ts';

/** A person's yes was to what stood there then: where the tool bound its preview to something, it is looked at again. */
export const isRechecked = ({ decided, digest, prepared, phase }: CallState): boolean =>
  phase === 'ready' && decided?.do === 'approve' && decided.digest === digest && prepared?.base !== undefined;

/** Right before the start means in the batch that records it: whatever comes later is looked at anew. */
const needsRecheck = ({ lastAt }: SessionState, call: CallState): boolean =>
  isRechecked(call) && call.recheckedAt !== lastAt;

/** Whether a call has to be prepared by its tool before it may start or be asked about. */
export const needsPreparing = (state: SessionState, call: CallState): boolean => {
  const tool = toolOf(state.agent, call.tool);
  if (!tool?.previews) return false;
  if (call.prepared) return needsRecheck(state, call);
  // Nobody is asked about a dry run, and what would be done is shown.
  if (modeOf(state) === 'dry-run' && tool.effect !== 'none') return true;
  // Once a person was asked, what runs has a preview on record, also after an edit.
  if (call.phase === 'to-ask' || call.round > 0 || tool.effect === 'reconcilable') return true;
  // What another program offers may be another thing by now: it is looked at before anything starts.
  return tool.server !== undefined;
};
