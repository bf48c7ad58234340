/** onrecord mode: what may start, in one session or in the whole store. */
import { badInput } from '../../errors.ts';
import { MODES, type Mode } from '../../event/definition.ts';
import { open } from '../../event/envelope.ts';
import { canGoOn } from '../../session/summary.ts';
import { MODE_WORDS } from '../../view/terms.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { isMode, modeLines, sessionMode, storeMode, type StandingMode } from '../gate.ts';
import { givenOption } from '../given.ts';
import { openRecord } from '../record.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, strong, whole } from '../terminal/shown.ts';

export const mode: Command = {
  name: 'mode',
  summary: 'Shows or sets what may start, in one session or, without one, in the whole store.',
  arguments: [
    { name: 'mode', description: `${MODES.join(', ')}; without one it is shown`, required: false },
    { name: 'session', description: 'one session; without one the whole store', required: false },
  ],
  options: [{ flags: '--reason <text>', description: 'why, for the record' }],
  example: 'onrecord mode read-only --reason "stocktaking until noon"',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const { wanted, session } = wishOf(input);
    const reason = givenOption(input, 'reason');
    if (wanted === undefined && reason !== undefined)
      throw badInput('usage', '--reason goes with a mode that is set.', {}, 'onrecord help mode');
    // A store that is not there is not made: a typing mistake must not look like a closed gate.
    const store = await openRecord(cli);
    const read = async (): Promise<StandingMode> =>
      session === undefined ? storeMode(store) : sessionMode((await store.read(session)).map(open));
    const before = await read();
    if (wanted === undefined) return show(cli, session, before);
    const runtime = await cli.runtime();
    const { replayed } = await runtime.setMode(wanted, {
      by: await cli.person(),
      ...(session !== undefined && { session }),
      ...(reason !== undefined && { reason }),
    });
    return said(cli, session, { now: await read(), replayed });
  },
};

type Wish = { readonly wanted: Mode | undefined; readonly session: string | undefined };

/** One word that is no mode names a session whose mode is to be shown. */
const wishOf = ({ args }: Input): Wish => {
  const [first, second] = args;
  if (first === undefined || isMode(first)) return { wanted: first, session: second };
  if (second === undefined && first.startsWith('s_')) return { wanted: undefined, session: first };
  throw badInput(
    'mode-unknown',
    `There is no mode "${first}". There are ${MODES.join(', ')}.`,
    { mode: first, known: MODES },
    'onrecord help mode',
  );
};

const scopeOf = (session: string | undefined): string =>
  session === undefined ? 'The whole store' : `Session ${session}`;

const jsonOf = (
  session: string | undefined,
  { mode: standing, set }: StandingMode,
): Readonly<Record<string, unknown>> => ({
  scope: session === undefined ? 'store' : 'session',
  ...(session !== undefined && { session }),
  mode: standing,
  ...set,
});

const show = (cli: Cli, session: string | undefined, standing: StandingMode): ExitCode => {
  const { screen } = cli;
  if (screen.jsonMode) screen.json(jsonOf(session, standing));
  else if (standing.mode === 'normal')
    screen.out(line`${SIGN.ok} ${scopeOf(session)} is normal: ${MODE_WORDS.normal}.`);
  else {
    screen.out(...modeLines(scopeOf(session), standing, cli, screen.look));
    screen.next({ command: command('mode', 'normal', ...(session === undefined ? [] : [session])) });
  }
  return EXIT.done;
};

const said = async (
  cli: Cli,
  session: string | undefined,
  { now, replayed }: { readonly now: StandingMode; readonly replayed: boolean },
): Promise<ExitCode> => {
  const { screen } = cli;
  if (screen.jsonMode) {
    screen.json({ ...jsonOf(session, now), replayed });
    return EXIT.done;
  }
  const was = replayed ? ' already' : ' from now on';
  screen.out(
    line`${SIGN.ok} ${scopeOf(session)} is ${strong(now.mode)}${was}: ${MODE_WORDS[now.mode]}.`,
    ...(now.set === undefined
      ? []
      : [line`  Recorded as event ${now.set.seq} of ${whole(session ?? 'control')}.`]),
  );
  if (session !== undefined && canGoOn(await (await cli.runtime()).state(session)))
    screen.next({ command: command('resume', session) });
  return EXIT.done;
};
