/** onrecord worker: drives sessions, and nothing else. Any number of them, on any number of machines. */
import { badInput } from '../../errors.ts';
import { maskedStore } from '../../log/postgres-place.ts';
import { formatCount, formatDuration } from '../../view/format.ts';
import { dispatcherOf } from '../dispatch.ts';
import { givenDuration } from '../duration.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import type { Listening } from '../../server/listen.ts';
import type { Logger } from '../../tool/tool.ts';
import type { Runtime } from '../../worker/runtime.ts';
import { LOG_OPTION, operatorLog } from '../operator-log.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';
import { untilStopped } from '../until-stopped.ts';

const PORT_MAX = 65_535;
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
    {
      flags: '--probes <place>',
      description:
        'address:port that answers /livez, /readyz, /healthz and /metrics, open to whoever reaches it',
    },
    LOG_OPTION,
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
    const place = probePlace(input);
    const log = operatorLog(screen, input);
    const prices = await cli.priceOverrides();
    const dispatcher = await dispatcherOf(cli, log);
    const telemetry = await cli.telemetry({ log, stays: true });
    const runtime = await openRuntime({
      store: await cli.store(),
      agents,
      limits,
      log,
      notify: await cli.channels(),
      ...(dispatcher && { dispatcher }),
      ...(prices && { prices }),
      ...(telemetry && { telemetry }),
    });
    const { ownerId: name } = runtime;
    const probes = place && (await probesOf(runtime, place, log));
    const { sessions = SESSIONS_AT_ONCE } = limits;
    const told = { worker: name, store: maskedStore(await cli.storeNamed()), sessions };
    if (screen.jsonMode)
      screen.jsonLine({ ...told, agents: agents.map(({ definition }) => definition.name) });
    screen.out(
      line`${SIGN.ok} Worker ${whole(name)} drives sessions of ${whole(told.store)}, at most ${formatCount(sessions)} at once.`,
    );
    if (probes) screen.out(line`  Probes answer on ${probes.url}.`);
    if (agents.length === 0)
      screen.note(line`${SIGN.wait} No agent is configured here, so there is nothing that it can drive.`);
    await untilStopped(cli);
    screen.note(line`Stopping: nothing more starts; what runs may take ${formatDuration(drainMs)}.`);
    await runtime.close({ drainMs });
    // Last, so that whoever watches sees the end of it.
    await probes?.close(0);
    return EXIT.done;
  },
};

/** "4281" or "0.0.0.0:4281" or "[::]:4281". */
const PLACE = /^(?:(?<host>\[[0-9a-f:]+\]|[^:[\]\s]+):)?(?<port>\d{1,5})$/i;

type ProbePlace = { readonly host: string; readonly port: number };

const probePlace = (input: Input): ProbePlace | undefined => {
  const text = givenOption(input, 'probes');
  if (text === undefined) return undefined;
  const { host = '127.0.0.1', port = '' } = PLACE.exec(text)?.groups ?? {};
  if (port !== '' && Number(port) <= PORT_MAX)
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  throw badInput(
    'number-invalid',
    `--probes "${text}" is no port, alone or behind an address: 0.0.0.0:4281.`,
    { probes: text },
  );
};

const probesOf = async (runtime: Runtime, place: ProbePlace, log: Logger): Promise<Listening> => {
  const { listen } = await import('../../server/listen.ts');
  return listen({ runtime, log, ...place, probesOnly: true, openMetrics: true });
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
