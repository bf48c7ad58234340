/** onrecord fork: a new session on the past of another one. */
import type { LogEvent } from '../../event/events.ts';
import { eventLine } from '../../view/event-line.ts';
import { countOf } from '../../view/format.ts';
import type { Reading } from '../../view/reading.ts';
import type { Forked } from '../../worker/fork.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption, givenSeq } from '../given.ts';
import { namedSession, openRecord } from '../record.ts';
import { readSession } from '../session-drive.ts';
import { eventShown, layoutFor } from '../session-lines.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, line, own, SIGN, strong, whole, type Shown } from '../terminal/shown.ts';

export const fork: Command = {
  name: 'fork',
  summary: 'Makes a new session on the past of another one; the other one goes on as it is.',
  arguments: [{ name: 'session', description: 'the session to branch off from', required: true }],
  options: [
    { flags: '--at <seq>', description: 'the last event that both have (default: the last one there is)' },
    {
      flags: '--key <key>',
      description: 'a name for the fork: the same key at the same place is the same fork',
    },
    {
      flags: '--close-open',
      description: 'fork inside a turn, too: what is open there is closed in the fork and not run',
    },
    { flags: '--title <text>', description: 'what the fork is called in lists' },
  ],
  example: 'onrecord fork s_7Q2N8B4M --at 12',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const session = namedSession(input, 'fork');
    const [at, key, title] = [givenSeq(input, 'at'), givenOption(input, 'key'), givenOption(input, 'title')];
    await openRecord(cli);
    const runtime = await cli.runtime();
    const forked = await runtime.fork({
      session,
      by: cli.actor,
      ...(at !== undefined && { at }),
      ...(key !== undefined && { key }),
      ...(title !== undefined && { title }),
      ...(input.options['closeOpen'] === true && { closeOpen: true }),
    });
    const reading = await readSession(runtime.store, forked.session);
    printFork(cli, reading, forked, at);
    return EXIT.done;
  },
};

const printFork = (cli: Cli, reading: Reading, forked: Forked, at: number | undefined): void => {
  const { screen } = cli;
  const { session, parent, replayed } = forked;
  const left = leftBehind(reading.events, parent.seq);
  if (screen.jsonMode) {
    const closed = left.map(({ type, data }) => ({ type, data }));
    return screen.json({ session, parent, replayed, closed });
  }
  if (replayed) screen.note(line`This fork was made before.`);
  if (at !== undefined && at < parent.seq)
    screen.note(line`Event ${at} stands within a batch: forked behind event ${parent.seq}, where that ends.`);
  const past = countOf(parent.seq, 'event');
  screen.out(
    line`${SIGN.ok} ${strong(whole(session))} branches off from ${whole(parent.session)} behind event ${parent.seq}. ${past} shared, none copied.`,
    ...leftLines(cli, reading, left),
  );
  screen.next({ command: command('send', session, 'what the agent should do here') });
};

/** What follows from the fork itself. */
const leftBehind = (events: readonly LogEvent[], seq: number): readonly LogEvent[] => {
  const after = events.slice(seq + 1);
  const end = after.findIndex(({ type }) => type !== 'call.cancelled' && type !== 'turn.ended');
  return end < 0 ? after : after.slice(0, end);
};

const leftLines = ({ screen, actor }: Cli, reading: Reading, left: readonly LogEvent[]): readonly Shown[] => {
  if (left.length === 0) return [];
  const { tools } = reading.state.agent;
  const layout = layoutFor(screen.look, tools);
  return [
    EMPTY,
    dim(own('What was open there is closed here:')),
    ...left.map((event) => eventShown(eventLine(reading, event, { me: actor.name }), layout)),
  ];
};
