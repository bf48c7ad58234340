/** onrecord unpark: lets workers try a session again that has lost one driver after the other. */
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { openRecord } from '../record.ts';
import { readSession } from '../session-drive.ts';
import { command } from '../terminal/command.ts';
import { EMPTY, line, SIGN, theirs, whole } from '../terminal/shown.ts';

export const unpark: Command = {
  name: 'unpark',
  summary: 'Lets workers try a session again that was parked, because its drivers were lost again and again.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [{ flags: '--reason <text>', description: 'why, for the record' }],
  example: 'onrecord unpark s_7Q2N8B4M --reason "more memory"',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const [session = ''] = input.args;
    const reason = givenOption(input, 'reason');
    const { state } = await readSession(await openRecord(cli), session);
    const runtime = await cli.runtime();
    await runtime.unpark(session, { by: await cli.person(), ...(reason !== undefined && { reason }) });
    const { parked } = state;
    if (cli.screen.jsonMode) cli.screen.json({ session, unparked: true, ...(parked && { parked }) });
    const why = parked ? line` It was parked after ${parked.tries} tries: ${theirs(parked.message)}.` : EMPTY;
    cli.screen.out(line`${SIGN.ok} ${whole(session)} is not parked any more.${why}`);
    cli.screen.next({ command: command('resume', session) });
    return EXIT.done;
  },
};
