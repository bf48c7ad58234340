/** onrecord approvals: what waits for a decision; at a terminal the inbox. */
import { badInput } from '../../errors.ts';
import { DIGEST_LENGTH } from '../../event/canonical.ts';
import type { Approval } from '../../view/approval.ts';
import { argumentsBrief } from '../../view/brief.ts';
import { countOf } from '../../view/format.ts';
import { questionHistory } from '../../view/question-end.ts';
import { cardBody, cardHead, cardOptionsOf, outsideMark, titleOf } from '../approval-card.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { DIGEST_PREFIX_MIN } from '../decision.ts';
import { EXIT } from '../exit-code.ts';
import { Inbox } from '../inbox.ts';
import { noteDamage, openRecord, readRecord, waitingApprovals } from '../record.ts';
import { showHistory } from '../question-lines.ts';
import { cells } from '../terminal/cells.ts';
import { command } from '../terminal/command.ts';
import type { Look } from '../terminal/look.ts';
import { EMPTY, line, own, SIGN, strong, theirs, whole, type Shown } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

export const approvals: Command = {
  name: 'approvals',
  summary: 'Shows what waits for a decision; at a terminal asks about it, one card at a time.',
  arguments: [{ name: 'session', description: 'one session; default all', required: false }],
  options: [
    { flags: '--list', description: 'only list, also at a terminal' },
    { flags: '--history', description: 'every question of one session, and what became of it' },
  ],
  example: 'onrecord approvals',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.waiting, EXIT.inDoubt, EXIT.store, EXIT.interrupted],
  async run(cli, { args, options }) {
    const { screen } = cli;
    const [session] = args;
    const store = await openRecord(cli);
    if (options['history'] === true) {
      if (session === undefined)
        throw badInput('usage', '--history is about one session.', {}, 'onrecord help approvals');
      return showHistory(cli, questionHistory(await readRecord(store, session)));
    }
    const waiting = await waitingApprovals(store, { session, damage: noteDamage(cli) });
    if (screen.jsonMode) screen.json({ approvals: waiting });
    else if (waiting.length === 0) screen.note(line`${SIGN.ok} Nothing waits for a decision.`);
    else if (screen.canAsk && options['list'] !== true) return new Inbox(cli, store, session).run();
    else list(cli, waiting, session !== undefined);
    return waiting.length === 0 ? EXIT.done : EXIT.waiting;
  },
};

/** A table and per call the command; with everything that each decides on where one session was named. */
const list = (cli: Cli, waiting: readonly Approval[], full: boolean): void => {
  const { screen } = cli;
  const wait = waiting.length === 1 ? 'waits' : 'wait';
  screen.out(line`${SIGN.wait} ${countOf(waiting.length, 'call')} ${wait} for a person.`, EMPTY);
  screen.out(...tableLines(cli, waiting), EMPTY);
  for (const approval of waiting) {
    if (full) screen.out(...cardLines(cli, approval));
    screen.out(approveCommand(approval, screen.look));
    if (full) screen.out(EMPTY);
  }
  const [first] = waiting;
  if (!full && first) screen.next({ command: command('approvals', first.session) });
};

/** Digits of a digest in a command: all of them, but on a terminal no more than stand on one line to be pasted. */
const DIGEST_LENGTHS = [DIGEST_LENGTH, 16, DIGEST_PREFIX_MIN];

const approveCommand = ({ session, call, digest }: Approval, look: Look): Shown => {
  const commands = DIGEST_LENGTHS.map(
    (length) => line`  ${command('approve', session, '--call', call, '--digest', digest.slice(0, length))}`,
  );
  const fitting = look.terminal ? commands.find((shown) => cells(shown) <= look.columns) : commands[0];
  return fitting ?? commands.at(-1) ?? EMPTY;
};

const cardLines = (cli: Cli, approval: Approval): Shown[] => {
  const { look } = cli.screen;
  return [
    ...cardHead(approval, line`${whole(approval.call)}   `, cardOptionsOf(cli, look)),
    ...cardBody(approval, look),
    EMPTY,
    line`Decides on ${whole(approval.digest)}`,
  ];
};

/** "ada", "2, four eyes": the card says who they are. */
const whoCell = ({ terms: { by, fourEyes } }: Approval): string => {
  const [only] = by ?? [];
  const who = by === undefined ? '' : by.length === 1 && only !== undefined ? only : `one of ${by.length}`;
  return [who, fourEyes ? 'four eyes' : ''].filter((word) => word !== '').join(', ');
};

const tableLines = ({ screen }: Cli, waiting: readonly Approval[]): readonly Shown[] =>
  table(
    [
      { key: 'session', title: own('session') },
      { key: 'call', title: own('call') },
      { key: 'tool', title: own('tool') },
      { key: 'effect', title: own('effect'), drop: 2 },
      { key: 'asked', title: own('asked'), drop: 1 },
      { key: 'who', title: own('who'), drop: 4 },
      { key: 'what', title: own('what'), least: 12 },
      { key: 'outside', drop: 3 },
    ],
    waiting.map((approval) => ({
      session: theirs(approval.session),
      call: theirs(approval.call),
      tool: strong(approval.tool),
      effect: theirs(approval.definition?.effect ?? 'unknown'),
      asked: theirs(screen.time(approval.askedAt)),
      who: theirs(whoCell(approval)),
      what: approval.preview ? titleOf(approval) : theirs(argumentsBrief(approval.args)),
      outside: outsideMark(approval),
    })),
    { look: screen.look, indent: 2 },
  ).lines;
