/** onrecord revoke: takes leave for further calls back. */
import { open } from '../../event/envelope.ts';
import type { Command, Option } from '../command.ts';
import { driveAndShow } from '../drive-on.ts';
import { EXIT } from '../exit-code.ts';
import { givenCall, givenOption } from '../given.ts';
import { namedSession, openRecord } from '../record.ts';
import { readSession } from '../session-drive.ts';
import { line, SIGN, strong, whole } from '../terminal/shown.ts';

const CALL_OPTION: Option = {
  flags: '--call <call>',
  description: 'the call whose approval gave it, as in 3.7.2; without one all that stand are taken back',
};

export const revoke: Command = {
  name: 'revoke',
  summary: 'Takes grants back: calls that they would have let run are asked about again.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [CALL_OPTION, { flags: '--reason <text>', description: 'why, for the record' }],
  example: 'onrecord revoke s_7Q2M4K1B --call 3.7.2 --reason "wrong address"',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.waiting, EXIT.inDoubt, EXIT.stopped, EXIT.store],
  async run(cli, input) {
    const { screen } = cli;
    const session = namedSession(input, 'revoke');
    const call = givenCall(input);
    const reason = givenOption(input, 'reason');
    const store = await openRecord(cli);
    const before = await readSession(store, session);
    const runtime = await cli.runtime();
    const { replayed } = await runtime.revoke(session, {
      by: await cli.person(),
      ...(call !== undefined && { call }),
      ...(reason !== undefined && { reason }),
    });
    const from = before.state.seq + 1;
    const taken = (await store.read(session, from))
      .map(open)
      .flatMap((event) => (event.type === 'grant.revoked' ? [event.data.grant] : []));
    if (screen.jsonMode) screen.jsonLine({ session, revoked: taken, replayed });
    if (replayed) screen.out(line`${SIGN.ok} Taken back before: nothing stands any more.`);
    screen.out(
      ...taken.map(
        (grant) =>
          line`${SIGN.ok} Taken back: ${strong(before.call(grant).tool)} is asked about again (the grant of call ${whole(grant)}).`,
      ),
    );
    return driveAndShow(cli, session, { from });
  },
};
