/** What people have to be told of: each question, each escalation, each doubt, once. */
import { knownCalls, type CallState, type SessionState } from './state.ts';

export type Untold = { readonly call: CallState; readonly topic: string };

/** Calls whose standing question or doubt has no notice in the log yet. */
export const untold = (state: SessionState): readonly Untold[] => {
  const found: Untold[] = [];
  for (const call of knownCalls(state)) {
    const topic = topicOf(call);
    if (topic !== undefined && topic !== call.told) found.push({ call, topic });
  }
  return found;
};

const topicOf = ({ phase, terms, round, attempt }: CallState): string | undefined => {
  if (phase === 'in-doubt') return `in-doubt ${attempt}`;
  if (phase === 'asking') return `${terms?.escalated === true ? 'escalated' : 'asked'} ${round}`;
  return undefined;
};
