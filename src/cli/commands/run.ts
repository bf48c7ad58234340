/** onrecord run: starts a session with a message and prints it as it goes. */
import { systemClock } from '../../clock.ts';
import type { Runtime } from '../../worker/runtime.ts';
import { Reading } from '../../view/reading.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenMode, givenOption, MODE_OPTION } from '../given.ts';
import { driveSession } from '../session-drive.ts';
import { finish } from '../session-ending.ts';
import { namedAgent } from '../named-agent.ts';
import { leftAndRight } from '../session-lines.ts';
import { dim, EMPTY, line, strong, theirs } from '../terminal/shown.ts';

export const run: Command = {
  name: 'run',
  summary: 'Starts a session with an agent and shows it as it goes.',
  arguments: [
    { name: 'agent', description: 'the agent, as onrecord agents lists it', required: true },
    { name: 'message', description: 'what it should do', required: true },
  ],
  options: [
    { flags: '--key <key>', description: 'a name for the turn, kept with it in the record' },
    MODE_OPTION,
    {
      flags: '--faults <file>',
      description: 'a fault plan: what goes wrong where, to see what becomes of it',
    },
  ],
  example: 'onrecord run inbox-assistant "What came in since yesterday?"',
  exits: [
    EXIT.done,
    EXIT.failed,
    EXIT.usage,
    EXIT.waiting,
    EXIT.inDoubt,
    EXIT.stopped,
    EXIT.notJudged,
    EXIT.store,
    EXIT.interrupted,
  ],
  async run(cli, input) {
    const [agent = '', message = ''] = input.args;
    const [key, faults] = [givenOption(input, 'key'), givenOption(input, 'faults')];
    const planned =
      faults === undefined ? undefined : (await import('../planned-faults.ts')).plannedFaults(cli, faults);
    // Before there is a store: a mistake leaves none behind.
    await namedAgent(cli, agent);
    const runtime = await cli.runtime(planned?.plan);
    const { session } = await runtime.send({
      agent,
      message,
      by: await cli.person(),
      ...(key !== undefined && { key }),
      ...givenMode(input),
    });
    printHead(cli, runtime, session, agent);
    const code = await finish(cli, await driveSession(cli, new Reading(session)), 1);
    return planned?.exitOf(code) ?? code;
  },
};

const printHead = ({ screen }: Cli, runtime: Runtime, session: string, agent: string): void => {
  if (screen.quiet) return;
  const { model } = runtime.agent(agent).definition;
  const left = line`${strong(session)}  ${agent}  ${model.name}`;
  screen.out(leftAndRight(left, dim(theirs(screen.day(systemClock.now()))), screen.look), EMPTY);
};
