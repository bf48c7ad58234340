/** After a decision: drives the session on and shows what comes, from an event on. */
import { open } from '../event/envelope.ts';
import { Reading } from '../view/reading.ts';
import type { Cli } from './cli.ts';
import type { ExitCode } from './exit-code.ts';
import { driveSession } from './session-drive.ts';
import { finish } from './session-ending.ts';

export const driveAndShow = async (
  cli: Cli,
  session: string,
  { from }: { readonly from: number },
): Promise<ExitCode> => {
  const store = await cli.store();
  const known = await store.read(session, 1, from - 1);
  return finish(cli, await driveSession(cli, new Reading(session, known.map(open))));
};
