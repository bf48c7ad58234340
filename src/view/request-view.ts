/** Requests of a session for people: which there are, an exact one again, and what two of them do not share. */
import { badInput } from '../errors.ts';
import type { Digest } from '../event/canonical.ts';
import { rebuildRequest, type RebuiltRequest } from '../context/rebuild.ts';
import { countOf } from './format.ts';
import type { Reading, RequestReading } from './reading.ts';

export type ExactRequest = { readonly request: RequestReading; readonly rebuilt: RebuiltRequest };

/** Throws `request-not-found`, `request-damaged`. `number` counts the session's requests from 1. */
export const exactRequest = async (
  reading: Reading,
  number: number,
  blob: (digest: Digest) => Promise<Uint8Array | undefined>,
): Promise<ExactRequest> => {
  const request = reading.requests[number - 1];
  if (!request) {
    const count = reading.requests.length;
    const known = count === 0 ? 'It has none.' : `It has ${countOf(count, 'request')}, counted from 1.`;
    throw badInput(
      'request-not-found',
      `Session ${reading.state.session} has no request ${number}. ${known}`,
      {
        request: number,
        requests: count,
      },
    );
  }
  const source = { eventAt: (seq: number) => reading.events[seq - 1], blob };
  return { request, rebuilt: await rebuildRequest(source, request.seq) };
};

export type PartChange = {
  readonly sign: '=' | '-' | '+';
  /** The event that the part stands for; undefined for what stands around the conversation. */
  readonly seq: number | undefined;
  readonly text: string;
};

/**
 * Part by part: what a request has in common with the one before it, in the order of the newer one. Providers
 * reuse a common beginning only, so everything after the first difference counts as other.
 */
export const requestDiff = (before: RebuiltRequest, after: RebuiltRequest): readonly PartChange[] => {
  const sameHead = before.head === after.head;
  const head: PartChange[] = sameHead
    ? [{ sign: '=', seq: undefined, text: after.head }]
    : [
        { sign: '-', seq: undefined, text: before.head },
        { sign: '+', seq: undefined, text: after.head },
      ];
  let shared = 0;
  while (
    shared < Math.min(before.parts.length, after.parts.length) &&
    before.parts[shared]?.text === after.parts[shared]?.text
  )
    shared++;
  return [
    ...head,
    ...after.parts.slice(0, shared).map((part) => ({ sign: '=' as const, ...part })),
    ...before.parts.slice(shared).map((part) => ({ sign: '-' as const, ...part })),
    ...after.parts.slice(shared).map((part) => ({ sign: '+' as const, ...part })),
  ];
};
