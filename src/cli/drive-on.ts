/** After a decision: drives the session on and shows what comes, from an event on. */
import { systemClock } from '../clock.ts';
import { open } from '../event/envelope.ts';
import { Reading } from '../view/reading.ts';
import type { Cli } from './cli.ts';
import type { ExitCode } from './exit-code.ts';
import { driveSession } from './session-drive.ts';
import { finish } from './session-ending.ts';

const FOREVER_MS: number = 2 ** 31 - 1;

export const driveAndShow = async (
  cli: Cli,
  session: string,
  { from }: { readonly from: number },
): Promise<ExitCode> => {
  const store = await cli.store();
  const known = await store.read(session, 1, from - 1);
  // Where another process drives, this one only follows the log, and the timers of that keep no process alive.
  const alive = systemClock.after(FOREVER_MS, () => undefined);
  try {
    return finish(cli, await driveSession(cli, new Reading(session, known.map(open))));
  } finally {
    alive.cancel();
  }
};
