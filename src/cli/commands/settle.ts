/** onrecord settle: a person says what became of a call in doubt. */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import type { Settlement } from '../../event/events.ts';
import { trySettle } from '../../view/consequence.ts';
import type { Doubt } from '../../view/doubt.ts';
import { countOf } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { doubtBody, doubtHead } from '../doubt-card.ts';
import { DoubtDesk } from '../doubt-desk.ts';
import { driveAndShow } from '../drive-on.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenCall, givenOption, givenText, isGiven } from '../given.ts';
import { namedSession, noteDamage, openDoubts, openRecord, readRecord } from '../record.ts';
import {
  consequenceLines,
  doubtOf,
  recordSettlement,
  resultContent,
  settlementWords,
} from '../settlement.ts';
import { command } from '../terminal/command.ts';
import { EMPTY, line, SIGN, strong, whole } from '../terminal/shown.ts';

export const settle: Command = {
  name: 'settle',
  summary: 'Records what became of a call in doubt; at a terminal asks about each, one at a time.',
  arguments: [{ name: 'session', description: 'one session; default all', required: false }],
  options: [
    {
      flags: '--call <call>',
      description: 'turn, step and index, as in 3.7.2; may be left out when one is in doubt',
    },
    { flags: '--happened <text>', description: 'it happened, with this result: text, @file, or - for stdin' },
    { flags: '--not-happened', description: 'it did not happen: run it now' },
    { flags: '--give-up', description: 'nobody knows: the model is told so' },
    { flags: '--note <text>', description: 'for the record' },
    { flags: '--list', description: 'only list, also at a terminal' },
  ],
  example: 'onrecord settle s_7Q2M4K1B --call 3.7.3 --not-happened',
  exits: [
    EXIT.done,
    EXIT.failed,
    EXIT.usage,
    EXIT.waiting,
    EXIT.inDoubt,
    EXIT.stopped,
    EXIT.store,
    EXIT.interrupted,
  ],
  async run(cli, input) {
    const { screen } = cli;
    const settlement = await settlementOf(input);
    if (settlement) return settleOne(cli, input, settlement);
    const store = await openRecord(cli);
    const [session] = input.args;
    const open = await openDoubts(store, { session, damage: noteDamage(cli) });
    if (screen.jsonMode) screen.json({ doubts: open });
    else if (open.length === 0) screen.note(line`${SIGN.ok} No call is in doubt.`);
    else if (screen.canAsk && !isGiven(input, 'list')) return new DoubtDesk(cli, store, session).run();
    else list(cli, open);
    return open.length === 0 ? EXIT.done : EXIT.inDoubt;
  },
};

const settlementOf = async (input: Input): Promise<Settlement | undefined> => {
  const happened = givenOption(input, 'happened');
  const answers = [happened !== undefined, isGiven(input, 'notHappened'), isGiven(input, 'giveUp')];
  const count = answers.filter(Boolean).length;
  const orphan = ['call', 'note'].find((name) => givenOption(input, name) !== undefined);
  if (count > 1 || (count === 0 && orphan !== undefined))
    throw badInput(
      'usage',
      'An answer is one of --happened, --not-happened and --give-up.',
      {},
      'onrecord help settle',
    );
  if (happened !== undefined)
    return { answer: 'happened', content: [resultContent(await givenText('happened', happened))] };
  if (count === 0) return undefined;
  return { answer: isGiven(input, 'giveUp') ? 'give-up' : 'not-happened' };
};

const settleOne = async (cli: Cli, input: Input, settlement: Settlement): Promise<ExitCode> => {
  const { screen, actor } = cli;
  const session = namedSession(input, 'settle');
  const record = await readRecord(await openRecord(cli), session);
  const given = givenCall(input);
  const call = given ?? doubtOf(cli, record, undefined).call;
  const note = givenOption(input, 'note');
  const settling = { call, settlement, by: actor, ...(note !== undefined && { note }) };
  const tried = trySettle(record, settling);
  const { seq, replayed } = await recordSettlement(cli, session, settling);
  if (screen.jsonMode)
    screen.jsonLine({
      settled: { session, call, answer: settlement.answer, seq, replayed, told: tried?.told ?? null },
    });
  screen.out(
    line`${SIGN.ok} Settled${replayed ? line` before` : EMPTY} as “${settlementWords(settlement)}”: call ${whole(call)}, recorded as event ${seq}.`,
    ...(tried ? consequenceLines(tried, screen.look) : []),
    EMPTY,
  );
  return driveAndShow(cli, session, { from: seq + 1 });
};

/** Each with all that is known, and the commands that answer. */
const list = (cli: Cli, open: readonly Doubt[]): void => {
  const { screen } = cli;
  const { look } = screen;
  const options = { look, time: (ms: number) => screen.time(ms), now: systemClock.now() };
  const are = open.length === 1 ? 'is' : 'are';
  screen.out(line`${SIGN.doubt} ${countOf(open.length, 'call')} ${are} in doubt.`, EMPTY);
  for (const doubt of open) {
    const { session, call } = doubt;
    screen.out(
      ...doubtHead(doubt, line`${strong(whole(call))}   `, options),
      ...doubtBody(doubt, options),
      EMPTY,
      line`  ${command('settle', session, '--call', call, '--happened', 'RESULT')}`,
      line`  ${command('settle', session, '--call', call, '--not-happened')}`,
      line`  ${command('settle', session, '--call', call, '--give-up')}`,
      EMPTY,
    );
  }
};
