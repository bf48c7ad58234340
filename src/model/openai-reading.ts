/** What was read from a reply of an OpenAI API, or of a server like it, before the exchange seals it. */
import type { RequestProblem } from '../event/events.ts';
import type { Usage } from '../event/content.ts';
import type { ModelReply } from './model.ts';
import { kindOfError, problemMessage, statusIn, type ProviderError } from './provider/problem.ts';

export type Answer = Omit<Extract<ModelReply, { kind: 'response' }>, 'bytes' | 'wire' | 'firstTokenMs'>;
export type Failure = {
  readonly kind: 'failed';
  readonly problem: RequestProblem;
  readonly partial?: string;
  readonly usage?: Usage;
};
export type Reading = Answer | Failure;

/** Reads the events of a streamed reply. Never throws. */
export type EventReader = {
  /** The data of one event. `last`: the reply broke off inside it, perhaps. */
  push(data: string, last: boolean): void;
  /** `ended`: the answer is there, and what follows can only add to it, for example its usage. `complete`: nothing follows. */
  readonly state: 'open' | 'ended' | 'complete';
  /** What came of it once it is over. Without an end that is `interrupted`. */
  reading(): Reading;
};

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** Tokens as providers count them; whatever is no count is 0. */
export const tokens = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

/** An error inside a status of 200. */
export const failedWith = (error: ProviderError, partial: string = '', usage?: Usage): Failure => {
  const status = statusIn(error);
  return {
    kind: 'failed',
    problem: {
      kind: kindOfError(error, status),
      message: problemMessage('The provider answered with an error', error),
      ...(status !== undefined && { status }),
    },
    ...(partial !== '' && { partial }),
    ...(usage && { usage }),
  };
};

/** Characters of a text that could not be read, as a message shows them. */
const SHOWN_CHARS_MAX = 200;

/** A reply without its end, or one that cannot be read. */
export const broken = (
  kind: 'interrupted' | 'bad-response',
  what: string,
  { partial, text }: { readonly partial: string; readonly text?: string },
): Failure => ({
  kind: 'failed',
  problem: {
    kind,
    message: text === undefined ? what : `${what}: ${JSON.stringify(text.slice(0, SHOWN_CHARS_MAX))}`,
  },
  ...(partial !== '' && { partial }),
});

export const NO_END = 'The reply ended before its last event, so it is not complete.';
