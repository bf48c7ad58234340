/** onrecord grants: leave for further calls that stands in a session. */
import { systemClock } from '../../clock.ts';
import { countOf } from '../../view/format.ts';
import { grants as grantsOf } from '../../view/grant.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { standingGrantLines } from '../grant.ts';
import { namedSession, openRecord, readRecord } from '../record.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const grants: Command = {
  name: 'grants',
  summary: 'Shows which further calls of a session run without a question, who said so, and until when.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [],
  example: 'onrecord grants s_7Q2M4K1B',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const { screen, actor } = cli;
    const session = namedSession(input, 'grants');
    const now = systemClock.now();
    const record = await readRecord(await openRecord(cli), session);
    const standing = grantsOf(record).filter(({ expiresAt }) => expiresAt > now);
    if (screen.jsonMode) {
      screen.json({ session, grants: standing });
      return EXIT.done;
    }
    if (standing.length === 0) {
      screen.out(line`${SIGN.ok} No grant stands in ${whole(session)}: policy says what is asked about.`);
      return EXIT.done;
    }
    const options = { look: screen.look, time: (ms: number) => screen.time(ms), me: actor.name };
    const [count, verb] = [countOf(standing.length, 'grant'), standing.length === 1 ? 'stands' : 'stand'];
    screen.out(
      line`${SIGN.wait} ${count} ${verb} in ${whole(session)}: such calls run without a question`,
      ...standing.flatMap((grant) => standingGrantLines(grant, options)),
    );
    screen.next({ command: command('revoke', session) });
    return EXIT.done;
  },
};
