/** onrecord cancel: stops the running turn and prints the receipt. */
import type { CallId } from '../../event/call-id.ts';
import type { Receipt } from '../../event/content.ts';
import { countOf } from '../../view/format.ts';
import type { Reading } from '../../view/reading.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openRecord } from '../record.ts';
import { driveSession, readSession } from '../session-drive.ts';
import { finish, nextSteps } from '../session-ending.ts';
import { EMPTY, line, SIGN, strong, whole, type Shown } from '../terminal/shown.ts';

export const cancel: Command = {
  name: 'cancel',
  summary: 'Stops the running turn of a session and says what had happened by then.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [{ flags: '--reason <text>', description: 'why, for the record' }],
  example: 'onrecord cancel s_7Q2N8B4M --reason "wrong customer"',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.inDoubt, EXIT.store, EXIT.interrupted],
  async run(cli, { args, options }) {
    const [session = ''] = args;
    const { reason } = options;
    const reading = await readSession(await openRecord(cli), session);
    const runtime = await cli.runtime();
    const { replayed } = await runtime.cancel(session, {
      by: await cli.person(),
      ...(typeof reason === 'string' && { reason }),
    });
    const turn = reading.state.active?.turn ?? 0;
    if (replayed) cli.screen.note(line`Turn ${turn} was asked to stop before.`);
    const driven = await driveSession(cli, reading);
    if (driven.interrupted) return finish(cli, driven, turn);
    return printReceipt(cli, driven.reading, turn);
  },
};

const printReceipt = async (cli: Cli, reading: Reading, turn: number): Promise<ExitCode> => {
  const { screen } = cli;
  const { state } = reading;
  const event = reading.events[(state.turns[turn - 1]?.endedSeq ?? 0) - 1];
  const receipt = event?.type === 'turn.ended' ? event.data.receipt : undefined;
  if (!receipt) {
    // It came to its end before the wish arrived.
    return finish(cli, { reading, interrupted: false }, turn);
  }
  if (screen.jsonMode) screen.jsonLine({ cancelled: { session: state.session, turn, receipt } });
  screen.out(EMPTY, line`${SIGN.cancelled} Turn ${turn} is cancelled. ${receiptText(receipt)}`);
  screen.out(...receiptLines(reading, receipt));
  const [first, second] = nextSteps(state);
  if (first) screen.next(first, ...(second ? ([second] as const) : []));
  return receipt.inDoubt.length > 0 ? EXIT.inDoubt : EXIT.done;
};

const receiptText = ({ landed, stopped, inDoubt }: Receipt): string => {
  const parts = [
    landed.length > 0 && `${countOf(landed.length, 'call')} had happened`,
    stopped.length > 0 && `${countOf(stopped.length, 'call')} did not`,
    inDoubt.length > 0 && `${countOf(inDoubt.length, 'call')} in doubt`,
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? 'No call of its last step was open.' : `Of its last step ${parts.join(', ')}.`;
};

const receiptLines = (reading: Reading, { landed, stopped, inDoubt }: Receipt): readonly Shown[] => {
  const lines = (ids: readonly CallId[], sign: Shown, words: Shown): Shown[] =>
    ids.map((id) => line`  ${sign} ${strong(reading.call(id).tool)} ${whole(id)}  ${words}`);
  return [
    ...lines(landed, SIGN.ok, line`had happened`),
    ...lines(stopped, SIGN.cancelled, line`stopped without an effect`),
    ...lines(inDoubt, SIGN.doubt, line`in doubt`),
  ];
};
