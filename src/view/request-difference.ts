/** A recorded request beside the one that this build would make at the same place. */
import { rebuildRequest, type RebuildSource } from '../context/rebuild.ts';
import { nextRequest } from '../context/next-request.ts';
import { RequestBuilder } from '../context/request-builder.ts';
import type { Encoder } from '../context/encoding.ts';
import type { AgentDefinition } from '../event/definition.ts';
import { evolve, initial } from '../session/evolve.ts';
import { eventAt, type SessionRecord } from './record.ts';

export type RequestText = {
  readonly head: string;
  readonly tail: string;
  /** The elements of the conversation array. */
  readonly parts: readonly string[];
};

export type RequestPair = {
  /** Undefined where the record cannot be put together: verify says why. */
  readonly recorded: RequestText | undefined;
  /** Undefined where this build does not know the adapter. */
  readonly now: RequestText | undefined;
};

export type RequestPairOptions = {
  readonly seq: number;
  readonly encoderOf: (agent: AgentDefinition) => Encoder | undefined;
  readonly blob: RebuildSource['blob'];
};

export const requestPair = async (
  record: SessionRecord,
  { seq, encoderOf, blob }: RequestPairOptions,
): Promise<RequestPair> => ({
  recorded: await recordedText(record, seq, blob),
  now: textNow(record, seq, encoderOf),
});

const recordedText = async (
  record: SessionRecord,
  seq: number,
  blob: RebuildSource['blob'],
): Promise<RequestText | undefined> => {
  try {
    const source = { eventAt: (at: number) => eventAt(record, at), blob };
    const { head, tail, parts } = await rebuildRequest(source, seq);
    return { head, tail, parts: parts.map((part) => part.text) };
  } catch {
    return undefined;
  }
};

const textNow = (
  { events, state: { session } }: SessionRecord,
  seq: number,
  encoderOf: RequestPairOptions['encoderOf'],
): RequestText | undefined => {
  const builder = new RequestBuilder(encoderOf);
  let state = initial(session);
  for (const event of events.slice(0, seq - 1)) {
    const before = state;
    state = evolve(before, event);
    builder.push(event, before, state);
  }
  const request = eventAt({ events, state }, seq);
  if (request?.type !== 'request.built' || !encoderOf(state.agent)) return undefined;
  const { turn, step, summary } = request.data;
  const made = nextRequest(builder, state, { kind: 'build', turn, step, ...(summary && { summary: true }) });
  if (made.type === 'request.refused') return undefined;
  const { head, tail, parts } = made;
  return { head, tail, parts };
};

/** The whole body over several lines; a body that is no JSON comes back as it is. */
export const prettyRequest = ({ head, tail, parts }: RequestText): string => {
  const body = head + parts.join(',') + tail;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

/** What stands around the conversation, as a value. */
export const frameValue = ({ head, tail }: RequestText): unknown => {
  try {
    return JSON.parse(head + tail) as unknown;
  } catch {
    return undefined;
  }
};
