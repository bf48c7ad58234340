/** What a person says became of a call in doubt: found, recorded, told. */
import { systemClock } from '../clock.ts';
import { badInput, isOnrecordError, OnrecordError } from '../errors.ts';
import { canonical } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { Content } from '../event/content.ts';
import type { Settlement } from '../event/events.ts';
import { parseStrict } from '../event/strict.ts';
import type { SettleTrial, Settling } from '../view/consequence.ts';
import { doubts, type Doubt } from '../view/doubt.ts';
import { fateOf } from '../view/fate.ts';
import { formatDuration } from '../view/format.ts';
import type { SessionRecord } from '../view/record.ts';
import type { Cli } from './cli.ts';
import { openRecord, readRecord } from './record.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { previewBlockLines } from './terminal/preview.ts';
import { line, own, SIGN, type Shown } from './terminal/shown.ts';

/** Throws `call-not-found`, `already-settled`, `not-in-doubt`, `nothing-in-doubt`, `usage`. */
export const doubtOf = (cli: Cli, record: SessionRecord, call: CallId | undefined): Doubt => {
  const open = doubts(record);
  const found = call === undefined ? open : open.filter((doubt) => doubt.call === call);
  const [only, ...more] = found;
  if (only && more.length === 0) return only;
  const { session } = record.state;
  if (call !== undefined) throw refusalFor(cli, record, call);
  if (!only)
    throw new OnrecordError(`No call of ${session} is in doubt.`, {
      code: 'nothing-in-doubt',
      next: 'look-again',
      details: { session },
    });
  const calls = found.map((one) => one.call);
  throw badInput(
    'usage',
    `${calls.length} calls of ${session} are in doubt. Say which with --call: ${calls.join(', ')}.`,
    { session, calls },
    `onrecord settle ${session}`,
  );
};

const refusalFor = ({ screen }: Cli, record: SessionRecord, call: CallId): OnrecordError => {
  const fate = fateOf(record, call, 'settle');
  const { session } = record.state;
  const refuse = (
    code: string,
    message: string,
    more: Readonly<Record<string, unknown>> = {},
  ): OnrecordError =>
    new OnrecordError(message, { code, next: 'look-again', details: { session, call, ...more } });
  if (fate.kind === 'unknown-call')
    return refuse('call-not-found', `Session ${session} has no call ${call}.`);
  if (fate.kind !== 'settled') return refuse('not-in-doubt', `Call ${call} of ${session} is not in doubt.`);
  const { by, at, seq, settlement } = fate;
  const ago = formatDuration(Math.max(0, systemClock.now() - at));
  const message = `Did nothing: settled as “${WORDS[settlement.answer]}” by ${by.name} at ${screen.time(at)}, ${ago} before you.`;
  return refuse('already-settled', message, { by, at, seq, answer: settlement.answer });
};

const WORDS: Readonly<Record<Settlement['answer'], string>> = {
  happened: 'it happened',
  'not-happened': 'it did not happen',
  'give-up': 'given up',
};

export const settlementWords = ({ answer }: Settlement): string => WORDS[answer];

/** What a tool would have returned: JSON where it is an object or a list, else text. */
export const resultContent = (text: string): Content => {
  const parsed = parseStrict(text);
  const structured = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null;
  return structured ? { type: 'json', text: text.trim() } : { type: 'text', text };
};

export type SettledEvent = { readonly seq: number; readonly replayed: boolean };

/** Has it recorded. The same answer of the same person stands as it was given first. */
export const recordSettlement = async (
  cli: Cli,
  session: string,
  { call, settlement, by, note }: Settling,
): Promise<SettledEvent> => {
  const runtime = await cli.runtime();
  let refusal: unknown;
  let replayed = false;
  try {
    ({ replayed } = await runtime.settle({
      session,
      call,
      settlement,
      by,
      ...(note !== undefined && { note }),
    }));
  } catch (error) {
    if (!isOnrecordError(error) || error.next !== 'look-again') throw error;
    refusal = error;
  }
  const record = await readRecord(await openRecord(cli), session);
  // Given last: a call can come into doubt again.
  const given = record.events.findLast((event) => event.type === 'call.settled' && event.data.call === call);
  if (given?.type !== 'call.settled') throw refusal ?? refusalFor(cli, record, call);
  const same = given.data.by.name === by.name && canonical(given.data.settlement) === canonical(settlement);
  if (refusal !== undefined && !same) throw refusalFor(cli, record, call);
  return { seq: given.seq, replayed: replayed || refusal !== undefined };
};

/** What follows from an answer, before or after it is given. */
export const consequenceLines = (tried: SettleTrial, look: Look): Shown[] => {
  const prose = (shown: Shown): Shown[] =>
    wrap(fit(line`  ${shown}`, look), look.textColumns, { hanging: 2, strict: true });
  const { follow, told } = tried;
  const lines: Shown[] = [];
  if (follow.kind === 'runs')
    lines.push(...prose(line`It runs again with the same arguments, as attempt ${follow.attempt}.`));
  if (follow.kind === 'asks') lines.push(...prose(line`Rule ${follow.rule} asks a person before it runs.`));
  if (follow.kind === 'rejected') lines.push(...prose(line`${SIGN.wait} It does not run any more.`));
  if (told !== undefined)
    lines.push(own('  The model is told:'), ...previewBlockLines({ kind: 'text', text: told }, { look }));
  return lines;
};
