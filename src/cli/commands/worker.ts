/** onrecord worker: drives sessions, and nothing else. Any number of them, on any number of machines. */
import { badInput } from '../../errors.ts';
import { maskedStore } from '../../log/postgres-place.ts';
import { formatCount, formatDuration } from '../../view/format.ts';
import { dispatcherOf } from '../dispatch.ts';
import { givenDuration } from '../duration.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { OPERATOR_LOG } from '../operator-log.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';
import { untilStopped } from '../until-stopped.ts';

/** How long what runs may go on once the worker is asked to end. */
const DRAIN = '30s';

export const worker: Command = {
  name: 'worker',
  summary: 'Drives sessions of the store, beside any number of others, until it is asked to end.',
  arguments: [],
  options: [
    {
      flags: '--sessions <count>',
      description: 'sessions driven at once, default 1000 or what the configuration says',
    },
    { flags: '--drain <duration>', description: 'how long what runs may go on at SIGTERM', default: DRAIN },
  ],
  example: 'onrecord worker --sessions 200',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.tooNew, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const { openRuntime } = await import('../../worker/runtime.ts');
    const { SESSIONS_AT_ONCE } = await import('../../worker/work-limits.ts');
    const { screen } = cli;
    const { agents, work = {} } = await cli.config();
    const drainMs = givenDuration('drain', givenOption(input, 'drain') ?? DRAIN);
    const limits = { ...work, ...givenSessions(input) };
    const prices = await cli.priceOverrides();
    const dispatcher = await dispatcherOf(cli, OPERATOR_LOG);
    const telemetry = await cli.telemetry({ log: OPERATOR_LOG, stays: true });
    const runtime = await openRuntime({
      store: await cli.store(),
      agents,
      limits,
      log: OPERATOR_LOG,
      notify: await cli.channels(),
      ...(dispatcher && { dispatcher }),
      ...(prices && { prices }),
      ...(telemetry && { telemetry }),
    });
    const { ownerId: name } = runtime;
    const { sessions = SESSIONS_AT_ONCE } = limits;
    const told = { worker: name, store: maskedStore(await cli.storeNamed()), sessions };
    if (screen.jsonMode)
      screen.jsonLine({ ...told, agents: agents.map(({ definition }) => definition.name) });
    screen.out(
      line`${SIGN.ok} Worker ${whole(name)} drives sessions of ${whole(told.store)}, at most ${formatCount(sessions)} at once.`,
    );
    if (agents.length === 0)
      screen.note(line`${SIGN.wait} No agent is configured here, so there is nothing that it can drive.`);
    await untilStopped(cli);
    screen.note(line`Stopping: nothing more starts; what runs may take ${formatDuration(drainMs)}.`);
    await runtime.close({ drainMs });
    return EXIT.done;
  },
};

const givenSessions = (input: Input): { readonly sessions?: number } => {
  const text = givenOption(input, 'sessions');
  if (text === undefined) return {};
  if (/^[1-9]\d{0,6}$/.test(text)) return { sessions: Number(text) };
  throw badInput(
    'number-invalid',
    `--sessions "${text}" is no number of sessions: a whole number from 1 up.`,
    {
      sessions: text,
    },
  );
};
