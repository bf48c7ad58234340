/** onrecord send: goes on with a session. */
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenMode, MODE_OPTION } from '../given.ts';
import { openRecord } from '../record.ts';
import { driveSession, readSession } from '../session-drive.ts';
import { finish } from '../session-ending.ts';
import { line } from '../terminal/shown.ts';

export const send: Command = {
  name: 'send',
  summary: 'Sends a message to a session and shows what comes of it.',
  arguments: [
    { name: 'session', description: 'the session, as onrecord sessions lists it', required: true },
    { name: 'message', description: 'what its agent should do next', required: true },
  ],
  options: [
    {
      flags: '--key <key>',
      description: 'a name for the turn: sent again with the same key it is the same turn',
    },
    MODE_OPTION,
  ],
  example: 'onrecord send s_7Q2N8B4M "Then write to them that Friday is fine."',
  exits: [
    EXIT.done,
    EXIT.failed,
    EXIT.usage,
    EXIT.waiting,
    EXIT.inDoubt,
    EXIT.stopped,
    EXIT.store,
    EXIT.interrupted,
  ],
  async run(cli, input) {
    const [session = '', message = ''] = input.args;
    const { key } = input.options;
    const { mode } = givenMode(input);
    const reading = await readSession(await openRecord(cli), session);
    const runtime = await cli.runtime();
    // An agent that is not here could not answer: nothing is sent to it.
    runtime.agent(reading.state.agent.name);
    const by = await cli.person();
    // First the mode: nothing that the message leads to starts before it.
    if (mode !== undefined) await runtime.setMode(mode, { session, by });
    const { turn, replayed } = await runtime.send({
      session,
      message,
      by,
      ...(typeof key === 'string' && { key }),
    });
    if (replayed) cli.screen.note(line`This message was sent before: it is turn ${turn}.`);
    return finish(cli, await driveSession(cli, reading), turn);
  },
};
