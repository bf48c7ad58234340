/** Drives a recorded conversation through the runtime: its user messages are turns, one after the other. */
import type { ApprovalDecision, Runtime } from '../../src/index.ts';
import type { Recording } from './recording.ts';

/** The session of a recording in a store, where it was begun. */
const begun = async (runtime: Runtime, { id }: Recording): Promise<string | undefined> =>
  (await runtime.sessions({ agent: id, limit: 1 }))[0]?.session;

/**
 * Sends every user message and waits until the session rests; `answer` is a person's answer to every question.
 * A conversation that was begun goes on: each message has its key, and one that was accepted is not a second turn.
 * Returns the session.
 */
export const redrive = async (
  runtime: Runtime,
  recording: Recording,
  answer?: ApprovalDecision,
): Promise<string> => {
  let session = await begun(runtime, recording);
  for (const [index, { role, content }] of recording.messages.entries()) {
    if (role !== 'user') continue;
    const to = session === undefined ? { agent: recording.id } : { session };
    const sent = await runtime.send({ ...to, message: content, key: `message-${index}` });
    ({ session } = sent);
    await settled(runtime, session, answer);
  }
  if (session === undefined) throw new Error(`Recording ${recording.id} has no user message.`);
  return session;
};

const settled = async (
  runtime: Runtime,
  session: string,
  answer: ApprovalDecision | undefined,
): Promise<void> => {
  for (;;) {
    const { status } = await runtime.rest(session);
    if (status !== 'waiting' && status !== 'running' && status !== 'in-doubt') return;
    const { active } = await runtime.state(session);
    const asking = active?.calls.filter(({ phase }) => phase === 'asking') ?? [];
    if (!answer || asking.length === 0)
      throw new Error(`Session ${session} is ${status} and waits for nobody here.`);
    for (const { id: call, digest } of asking)
      if (digest !== undefined) await runtime.decide({ session, call, digest, decision: answer });
  }
};
