/** The questions of a session with what became of each, as a table. */
import { formatDuration } from '../view/format.ts';
import { endWords, type AskedQuestion, type QuestionEnd } from '../view/question-end.ts';
import type { Mark } from '../view/event-line.ts';
import { pastOf } from './decision.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { sign } from './session-lines.ts';
import { line, own, strong, theirs, type Shown } from './terminal/shown.ts';
import { table } from './terminal/table.ts';

export const showHistory = (cli: Cli, history: readonly AskedQuestion[]): ExitCode => {
  const { screen } = cli;
  if (screen.jsonMode) screen.json({ history });
  else if (history.length === 0) screen.note(own('Nobody was asked about anything in this session.'));
  else screen.out(...historyLines(cli, history));
  return history.some(({ end }) => end.kind === 'open') ? EXIT.waiting : EXIT.done;
};

const MARKS: Readonly<Record<QuestionEnd['kind'], Mark>> = {
  open: 'wait',
  decided: 'run',
  started: 'ok',
  answered: 'decision',
  'asked-again': 'decision',
  lapsed: 'cancelled',
  withdrawn: 'cancelled',
  withheld: 'cancelled',
  refused: 'fail',
};

const historyLines = ({ screen, actor }: Cli, history: readonly AskedQuestion[]): readonly Shown[] =>
  table(
    [
      { key: 'seq', title: own('event'), align: 'right' },
      { key: 'call', title: own('call') },
      { key: 'tool', title: own('tool') },
      { key: 'asked', title: own('asked'), drop: 2 },
      { key: 'rule', title: own('rule'), drop: 1 },
      { key: 'what', title: own('what became of it'), least: 24 },
    ],
    history.map((question) => ({
      seq: theirs(question.askedSeq),
      call: theirs(question.call),
      tool: strong(question.tool),
      asked: theirs(screen.time(question.askedAt)),
      rule: theirs(question.rule),
      what: line`${sign(MARKS[question.end.kind])} ${becameOf(question, actor.name)}`,
    })),
    { look: screen.look },
  ).lines;

/** "approved by ada; started", "lapsed, nothing ran". */
const becameOf = ({ decided, end }: AskedQuestion, me: string): string => {
  const who = decided?.by.name === me ? 'you' : decided?.by.name;
  const grant = decided?.decision.do === 'approve' ? decided.decision.grant : undefined;
  const granted = grant === undefined ? '' : `, with a grant for ${formatDuration(grant.forMs)}`;
  const given = decided === undefined ? [] : [`${pastOf(decided.decision.do)} by ${who ?? ''}${granted}`];
  return [...given, endWords(end)].join('; ');
};
