/** onrecord resume: takes up what a lost process or Ctrl C left. */
import { badInput, isOnrecordError } from '../../errors.ts';
import { canGoOn } from '../../session/summary.ts';
import type { Reading } from '../../view/reading.ts';
import { sessionHead } from '../../view/session-head.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openRecord } from '../record.ts';
import { driveSession, readSession } from '../session-drive.ts';
import { finish } from '../session-ending.ts';
import { headLines } from '../session-lines.ts';
import { EMPTY, line, SIGN } from '../terminal/shown.ts';

/** Sessions looked at by --all. */
const SESSIONS_MAX = 10_000;
/** Exit codes from the most to the least urgent. */
const URGENCY: readonly ExitCode[] = [
  EXIT.interrupted,
  EXIT.inDoubt,
  EXIT.waiting,
  EXIT.failed,
  EXIT.stopped,
  EXIT.done,
];

export const resume: Command = {
  name: 'resume',
  summary: 'Drives on what a crash or Ctrl C left, and says what was lost and what is in doubt.',
  arguments: [{ name: 'session', description: 'one session', required: false }],
  options: [{ flags: '--all', description: 'every session that can go on' }],
  example: 'onrecord resume --all',
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
  async run(cli, { args, options }) {
    const [session] = args;
    const all = options['all'] === true;
    if ((session === undefined) !== all)
      throw badInput('usage', 'Name one session, or give --all.', {}, 'onrecord help resume');
    if (session === undefined) return resumeAll(cli);
    return resumeOne(cli, await readSession(await openRecord(cli), session));
  },
};

const resumeOne = async (cli: Cli, reading: Reading): Promise<ExitCode> => {
  if (!cli.screen.quiet) cli.screen.out(...headLines(sessionHead(reading), cli.screen.look), EMPTY);
  if (!canGoOn(reading.state)) {
    cli.screen.note(line`Nothing to drive: the session rests.`);
    return finish(cli, { reading, interrupted: false });
  }
  const turn = reading.state.active?.turn;
  return finish(cli, await driveSession(cli, reading), turn);
};

const resumeAll = async (cli: Cli): Promise<ExitCode> => {
  const { screen } = cli;
  const store = await openRecord(cli);
  const rows = await store.sessions({ status: ['running', 'waiting', 'in-doubt'], limit: SESSIONS_MAX });
  const codes: ExitCode[] = [];
  for (const { session } of rows.toReversed()) {
    if (cli.interrupt.signal.aborted) break;
    codes.push(
      ...(await guarded(cli, async () => {
        const reading = await readSession(store, session);
        if (!canGoOn(reading.state)) return [];
        if (codes.length > 0) screen.out(EMPTY);
        return [await resumeOne(cli, reading)];
      })),
    );
  }
  if (codes.length === 0) {
    screen.out(line`${SIGN.ok} Nothing to resume: every session rests.`);
    if (screen.jsonMode) screen.jsonLine({ resumed: 0 });
  }
  return URGENCY.find((code) => codes.includes(code)) ?? EXIT.done;
};

/** One session that cannot go on does not keep the others. */
const guarded = async (cli: Cli, work: () => Promise<readonly ExitCode[]>): Promise<readonly ExitCode[]> => {
  try {
    return await work();
  } catch (error) {
    if (!isOnrecordError(error) || error.next === 'bug') throw error;
    cli.screen.error(error);
    return [EXIT.failed];
  }
};
