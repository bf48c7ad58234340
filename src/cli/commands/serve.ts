/** onrecord serve: the HTTP door, and the work of every session behind it. */
import { join, relative, resolve } from 'node:path';
import type { Command, Input } from '../command.ts';
import { dispatcherOf } from '../dispatch.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption, givenPort } from '../given.ts';
import { localToken } from '../local-token.ts';
import { LOG_OPTION, operatorLog } from '../operator-log.ts';
import { line, SIGN, theirs } from '../terminal/shown.ts';
import { untilStopped } from '../until-stopped.ts';

/** Beside the store. */
const REPORTS_FOLDER = 'reports';

export const serve: Command = {
  name: 'serve',
  summary: 'Serves the window and the HTTP door, and drives what can go on.',
  arguments: [],
  options: [
    { flags: '--host <address>', description: 'address to listen on', default: '127.0.0.1' },
    { flags: '--port <number>', description: 'port, 0 for any that is free', default: '4280' },
    { flags: '--names <names>', description: 'names that a proxy in front is called by, with commas' },
    { flags: '--origins <origins>', description: 'origins whose pages may use it with a token, with commas' },
    {
      flags: '--reports <folder>',
      description: 'where reports of suites are, for the window; default reports/ beside the store',
    },
    { flags: '--open-metrics', description: 'anybody may read /metrics' },
    { flags: '--no-drive', description: 'only serve; workers elsewhere do the work' },
    LOG_OPTION,
  ],
  example: 'onrecord serve',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const { openRuntime } = await import('../../worker/runtime.ts');
    const { listen } = await import('../../server/listen.ts');
    const log = operatorLog(cli.screen, input);
    const where = address(input);
    const { agents, work } = await cli.config();
    const store = await cli.store();
    const notify = await cli.channels();
    const prices = await cli.priceOverrides();
    const telemetry = await cli.telemetry({ log, stays: true });
    const dispatcher = await dispatcherOf(cli, log);
    const runtime = await openRuntime({
      store,
      agents,
      log,
      notify,
      ...(telemetry && { telemetry }),
      ...(prices && { prices }),
      drive: input.options['drive'] !== false,
      ...(work && { limits: work }),
      ...(dispatcher && { dispatcher }),
    });
    try {
      const door = await listen({
        runtime,
        log,
        ...(prices && { prices }),
        ...where,
        origins: listed(input, 'origins'),
        reports: resolve(
          cli.cwd,
          givenOption(input, 'reports') ?? join(await cli.storeFolder(), REPORTS_FOLDER),
        ),
        openMetrics: input.options['openMetrics'] === true,
      });
      const { path, token } = await localToken(door.app.tokens, await cli.storeFolder(), cli.actor);
      const signIn = `${door.url}/sign-in#${door.app.tickets.issue(token)}`;
      cli.screen.out(line`${SIGN.ok} Serving on ${door.url}`);
      cli.screen.out(line`  Open ${signIn} (signs one browser in, within an hour)`);
      cli.screen.out(
        line`  Your token is in ${theirs(relative(cli.cwd, path))}. The description is at ${`${door.url}/docs`}.`,
      );
      if (cli.screen.jsonMode) cli.screen.jsonLine({ url: door.url, token: path, signIn });
      if (agents.length === 0)
        cli.screen.note(line`${SIGN.wait} No agent is configured here, so there is nobody to talk to.`);
      await untilStopped(cli);
      cli.screen.note(line`Stopping: streams end, requests finish, what runs is given back.`);
      await door.close();
    } finally {
      await runtime.close();
    }
    return EXIT.done;
  },
};

const address = (input: Input): { host: string; port: number; names: readonly string[] } => ({
  host: givenOption(input, 'host') ?? '127.0.0.1',
  port: givenPort(input),
  names: listed(input, 'names'),
});

const listed = (input: Input, option: string): readonly string[] =>
  (givenOption(input, option) ?? '').split(',').filter((one) => one !== '');
