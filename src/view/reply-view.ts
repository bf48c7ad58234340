/** The replies of a session for people: which attempt of which request they came to, and their bytes as they came. */
import { badInput, OnrecordError } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { LogEvent } from '../event/events.ts';
import { countOf } from './format.ts';
import type { Reading, RequestReading } from './reading.ts';

export type Answered = Extract<LogEvent, { type: 'response.received' | 'request.failed' }>;

export type ExactReply = {
  readonly request: RequestReading;
  /** Every attempt of the request that ended, in order. */
  readonly attempts: readonly Answered[];
  readonly answered: Answered;
  /** Undefined where nothing came, or the model is one without bytes. */
  readonly bytes: Uint8Array | undefined;
};

export type ReplyWanted = {
  /** Of the request, counted from 1. */
  readonly number: number;
  /** The last one where it is not said. */
  readonly attempt?: number | undefined;
};

/** Throws `reply-not-found`, `reply-damaged`. */
export const exactReply = async (
  reading: Reading,
  { number, attempt }: ReplyWanted,
  blob: (digest: Digest) => Promise<Uint8Array | undefined>,
): Promise<ExactReply> => {
  const request = reading.requests[number - 1];
  const count = reading.requests.length;
  if (!request)
    throw notFound(reading, { number, attempt }, count === 0 ? 'no request' : countOf(count, 'request'));
  const attempts = attemptsOf(reading, request);
  const answered =
    attempt === undefined ? attempts.at(-1) : attempts.find(({ data }) => data.attempt === attempt);
  if (!answered) {
    const known = attempts.map(({ data }) => data.attempt).join(', ');
    const has = known === '' ? 'no attempt that has ended' : `these attempts: ${known}`;
    throw notFound(reading, { number, attempt }, has);
  }
  const { raw } = answered.data;
  const bytes = raw && (await blob(raw.digest));
  if (raw && (!bytes || sha256(bytes) !== raw.digest))
    throw new OnrecordError(
      bytes
        ? `The reply of event ${answered.seq} is not what the record says (${raw.digest}). Run onrecord verify.`
        : `The reply of event ${answered.seq} (${raw.digest}) is not here. A bundle may leave it out; for a store run onrecord verify.`,
      { code: 'reply-damaged', next: 'corrupt', details: { seq: answered.seq } },
    );
  return { request, attempts, answered, bytes };
};

const notFound = ({ state }: Reading, { number, attempt }: ReplyWanted, has: string): OnrecordError => {
  const wanted = attempt === undefined ? '' : `, attempt ${attempt}`;
  const where = has.includes('attempt') ? `Request ${number}` : 'It';
  return badInput(
    'reply-not-found',
    `Session ${state.session} has no reply to request ${number}${wanted}. ${where} has ${has}.`,
    { request: number },
  );
};

/** What came between a request and the next one. */
const attemptsOf = ({ events, requests }: Reading, { number, seq }: RequestReading): readonly Answered[] => {
  const end = requests[number]?.seq ?? events.length + 1;
  return events
    .slice(seq, end - 1)
    .filter(
      (event): event is Answered => event.type === 'response.received' || event.type === 'request.failed',
    );
};
