/**
 * One decision about one question, for all commands that give one: finds the question that is meant, has it
 * recorded, and says of a refusal what became of the call, who was faster and what has changed since.
 */
import { systemClock } from '../clock.ts';
import { badInput, isOnrecordError, OnrecordError } from '../errors.ts';
import { canonical, DIGEST_LENGTH, type Digest } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { ApprovalDecision } from '../event/events.ts';
import { findCall } from '../session/state.ts';
import { questions, type Question } from '../view/approval.ts';
import { CHANGE_WORDS, PAST_WORDS } from '../view/card-words.ts';
import { decisionOn, fateOf } from '../view/fate.ts';
import { formatDuration } from '../view/format.ts';
import { questionChanges, type QuestionChange } from '../view/question-change.ts';
import type { SessionRecord } from '../view/record.ts';
import type { Cli } from './cli.ts';
import { openRecord, readRecord } from './record.ts';

export const DIGEST_PREFIX_MIN = 8;

export type Aim = {
  readonly session: string;
  readonly call: CallId;
  readonly tool: string;
  readonly digest: Digest;
};

/** Refusals after which the question still stands, and another answer by the same person may count. */
export const STILL_STANDS: ReadonlySet<string> = new Set(['four-eyes', 'grant-invalid', 'arguments-invalid']);

export type AimOptions = {
  readonly call?: CallId | undefined;
  /** At least the first 8 digits of the digest that the person saw. */
  readonly digest?: string | undefined;
  /** The command does what was seen, so it has to say what that was. */
  readonly digestRequired: boolean;
};

export const pastOf = (decision: ApprovalDecision['do']): string => PAST_WORDS[decision];

/** Throws `usage`, `digest-invalid`, `digest-ambiguous`, `digest-mismatch`, `call-not-found`, `nothing-waits`. */
export const aimOf = (cli: Cli, record: SessionRecord, options: AimOptions): Aim => {
  const { digestRequired } = options;
  if (options.digest === undefined && digestRequired)
    throw badInput(
      'usage',
      '--digest is missing. It says what you saw, and nothing else is run.',
      {},
      `onrecord approvals ${record.state.session}`,
    );
  const when = whenOf(cli);
  const question =
    options.digest === undefined
      ? standingOne(record, options.call, when)
      : seenOne(record, options.digest, options.call, when);
  const { session, call, tool, digest } = question;
  return { session, call, tool, digest };
};

const standing = (record: SessionRecord): readonly Question[] =>
  questions(record).filter(({ call, digest }) => {
    const state = findCall(record.state, call);
    return state?.phase === 'asking' && state.digest === digest;
  });

const standingOne = (record: SessionRecord, call: CallId | undefined, when: When): Question => {
  const waiting = standing(record);
  const found = call === undefined ? waiting : waiting.filter((one) => one.call === call);
  const [only, ...more] = found;
  if (only && more.length === 0) return only;
  if (call !== undefined) throw refusalFor(record, call, when);
  if (!only)
    throw new OnrecordError(`Nothing waits for a decision in ${record.state.session}.`, {
      code: 'nothing-waits',
      next: 'look-again',
      details: { session: record.state.session },
    });
  throw badInput(
    'usage',
    `${found.length} calls wait in ${record.state.session}. Say which with --call: ${named(found)}.`,
    { session: record.state.session, calls: found.map((one) => one.call) },
    `onrecord approvals ${record.state.session}`,
  );
};

const named = (found: readonly Question[]): string =>
  found.map(({ call, tool }) => `${call} (${tool})`).join(', ');

/** Questions of the past count, too: the answer to one of them is that it is over. */
const seenOne = (record: SessionRecord, digest: string, call: CallId | undefined, when: When): Question => {
  const prefix = digest.toLowerCase();
  if (!/^[0-9a-f]+$/.test(prefix) || prefix.length < DIGEST_PREFIX_MIN || prefix.length > DIGEST_LENGTH)
    throw badInput(
      'digest-invalid',
      `"${digest}" is no digest: it takes ${DIGEST_PREFIX_MIN} to ${DIGEST_LENGTH} hexadecimal digits.`,
      { digest },
    );
  const asked = questions(record).filter((one) => call === undefined || one.call === call);
  const found = new Map(
    asked.filter((one) => one.digest.startsWith(prefix)).map((one) => [one.digest, one] as const),
  );
  const [only] = found.values();
  if (only && found.size === 1) return only;
  if (only)
    throw badInput('digest-ambiguous', `${found.size} questions have digests that begin with "${prefix}".`, {
      digests: [...found.keys()],
    });
  const waiting = standing(record).filter((one) => call === undefined || one.call === call);
  const [now] = waiting;
  if (now && waiting.length === 1) throw mismatch(now, prefix, undefined);
  throw call === undefined ? unknownDigest(record, prefix) : refusalFor(record, call, when);
};

const unknownDigest = (record: SessionRecord, digest: string): OnrecordError =>
  new OnrecordError(`No question of ${record.state.session} has a digest that begins with "${digest}".`, {
    code: 'digest-mismatch',
    next: 'look-again',
    details: { session: record.state.session, digest },
    hint: `onrecord approvals ${record.state.session}`,
  });

/** With `changes` where the digest names an earlier question about the same call. */
export class DigestMismatch extends OnrecordError {
  readonly changes: readonly QuestionChange[];
  constructor(
    message: string,
    details: Readonly<Record<string, unknown>>,
    changes: readonly QuestionChange[],
  ) {
    const hint = `onrecord approvals ${String(details['session'])}`;
    super(message, { code: 'digest-mismatch', next: 'look-again', details, hint });
    this.changes = changes;
  }
}

const mismatch = (now: Question, given: string, seen: Question | undefined): DigestMismatch => {
  const changes = seen ? questionChanges(seen, now) : [];
  const what = changes.map((change) => CHANGE_WORDS[change.what]).join(', ');
  const said = seen
    ? `Changed since: ${what}.`
    : `No question about this call had a digest that begins with ${given}.`;
  return new DigestMismatch(
    `Did nothing: call ${now.call} is not what you saw. ${said}\nDigest now ${now.digest}`,
    {
      session: now.session,
      call: now.call,
      given,
      digest: now.digest,
      changed: changes.map((change) => change.what),
    },
    changes,
  );
};

/** Words for when something was: " at 14:04:02 CET, 3 s before you". */
type When = (at: number) => string;

const whenOf =
  ({ screen }: Cli): When =>
  (at) =>
    ` at ${screen.time(at)}, ${formatDuration(Math.max(0, systemClock.now() - at))} before you`;

/** Why there is nothing to decide about a call. */
const refusalFor = (record: SessionRecord, call: CallId, when: When): OnrecordError => {
  const fate = fateOf(record, call, 'decide');
  const { session } = record.state;
  const refuse = (
    code: string,
    message: string,
    more: Readonly<Record<string, unknown>> = {},
  ): OnrecordError =>
    new OnrecordError(message, { code, next: 'look-again', details: { session, call, ...more } });
  if (fate.kind === 'decided') {
    const { seq, at, by, decision } = fate;
    const past = PAST_WORDS[decision.do];
    const message = `Did nothing: ${past} by ${by.name}${when(at)}.`;
    return refuse('already-decided', message, { do: decision.do, by, at, seq });
  }
  if (fate.kind === 'lapsed')
    return refuse('approval-expired', `Did nothing: the question lapsed${when(fate.at)}. Nothing was run.`, {
      at: fate.at,
      seq: fate.seq,
    });
  if (fate.kind === 'withheld')
    return refuse(
      'not-asked',
      `Did nothing: the call was withheld${when(fate.at)}, the mode was ${fate.mode}.`,
      {
        mode: fate.mode,
        at: fate.at,
      },
    );
  if (fate.kind === 'cancelled') {
    const { at, by } = fate;
    const who = by === undefined ? '' : ` by ${by.name}`;
    return refuse('turn-cancelled', `Did nothing: the turn was cancelled${who}${when(at)}.`, { by, at });
  }
  const waiting = standing(record);
  const waits = waiting.length === 0 ? 'Nothing waits here.' : `Waiting here: ${named(waiting)}.`;
  if (fate.kind === 'unknown-call')
    return refuse('call-not-found', `Session ${session} has no call ${call}. ${waits}`);
  return refuse('not-asked', `Call ${call} of ${session} does not wait for a decision. ${waits}`);
};

export type Recorded = Aim & {
  /** The event that holds the decision. */
  readonly seq: number;
  /** The same person had decided the same before: that decision stands. */
  readonly replayed: boolean;
};

/** Has a decision recorded. Throws what stood against it, in words for the person who came too late. */
export const recordDecision = async (cli: Cli, aim: Aim, decision: ApprovalDecision): Promise<Recorded> => {
  const runtime = await cli.runtime();
  let refusal: unknown;
  let replayed = false;
  try {
    ({ replayed } = await runtime.decide({ ...aim, decision, by: await cli.person() }));
  } catch (error) {
    refusal = error;
  }
  if (refusal !== undefined && !isRefusal(refusal)) throw refusal;
  const record = await readRecord(await openRecord(cli), aim.session);
  const given = decisionOn(record, aim.call, aim.digest);
  const ours = given?.by.name === cli.actor.name && canonical(given.decision) === canonical(decision);
  // A yes to what has changed since came to nothing: saying that it was given before would be read as done.
  const overtaken =
    decision.do === 'approve' && isOnrecordError(refusal) && refusal.code === 'digest-mismatch';
  if (!given || !ours || overtaken) throw explained(cli, record, aim, refusal);
  return { ...aim, seq: given.seq, replayed: replayed || refusal !== undefined };
};

const REFUSALS: ReadonlySet<string> = new Set([
  'already-decided',
  'call-not-found',
  'not-asked',
  'digest-mismatch',
  'turn-cancelled',
  'approval-expired',
]);

const isRefusal = (error: unknown): boolean => isOnrecordError(error) && REFUSALS.has(error.code);

const explained = (cli: Cli, record: SessionRecord, { call, digest }: Aim, refusal: unknown): unknown => {
  if (fateOf(record, call, 'decide').kind !== 'open') return refusalFor(record, call, whenOf(cli));
  const asked = questions(record).filter((one) => one.call === call);
  const now = asked.at(-1);
  const seen = asked.find((one) => one.digest === digest);
  if (now && now !== seen) return mismatch(now, digest, seen);
  return refusal ?? refusalFor(record, call, whenOf(cli));
};
