/** The last lines of a command that worked on a session: how it rests, and what to do next. */
import type { Mode } from '../event/definition.ts';
import { waiting } from '../session/next.ts';
import { statusOf } from '../session/summary.ts';
import type { SessionState } from '../session/state.ts';
import { countOf } from '../view/format.ts';
import type { Mark } from '../view/event-line.ts';
import type { Reading } from '../view/reading.ts';
import { sessionHead, totalsText } from '../view/session-head.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { holds, modeLines, sessionMode, storeMode } from './gate.ts';
import type { Driven } from './session-drive.ts';
import { sign } from './session-lines.ts';
import { command, type NextStep } from './terminal/command.ts';
import { EMPTY, line, theirLines, theirs } from './terminal/shown.ts';

/**
 * The exit code of a session as it stands, by the order of the design: in doubt, waiting, then the turn. What a mode
 * holds waits for whoever lifts it.
 */
export const exitOf = (state: SessionState, turn: number = state.turns.length, store?: Mode): ExitCode => {
  const { approvals, inDoubt } = waiting(state);
  if (inDoubt.length > 0) return EXIT.inDoubt;
  if (approvals.length > 0) return EXIT.waiting;
  if (state.turns[turn - 1]?.outcome === undefined && holds(state, store ?? 'normal')) return EXIT.waiting;
  switch (state.turns[turn - 1]?.outcome) {
    case 'failed':
    case 'refused':
      return EXIT.failed;
    case 'stopped':
    case 'cancelled':
      return EXIT.stopped;
    default:
      return EXIT.done;
  }
};

/** How a turn stands, in one sentence. */
export const turnSentence = (
  reading: Reading,
  turn: number,
  store: Mode = 'normal',
): { readonly mark: Mark; readonly text: string } => {
  const { state } = reading;
  const { approvals, inDoubt } = waiting(state);
  const held = holds(state, store);
  const record = state.turns[turn - 1];
  const decisions = countOf(approvals.length, 'decision');
  const doubts = `${countOf(inDoubt.length, 'call')} in doubt`;
  if (record?.outcome === undefined && state.active && state.active.turn !== turn)
    return { mark: 'wait', text: `Turn ${turn} waits for turn ${state.active.turn}, which is not over.` };
  if (record?.outcome === undefined && inDoubt.length > 0)
    return {
      mark: 'doubt',
      text: `Turn ${turn} has ${doubts}${approvals.length > 0 ? ` and waits for ${decisions}` : ''}.`,
    };
  if (record?.outcome === undefined)
    return approvals.length > 0
      ? { mark: 'wait', text: `Turn ${turn} waits for ${decisions}.` }
      : held !== undefined
        ? {
            mark: 'wait',
            text: `Turn ${turn} is held: the ${held === 'store' ? 'whole store' : 'session'} is frozen.`,
          }
        : { mark: 'run', text: `Turn ${turn} is not over.` };
  return ended(reading, turn, inDoubt.length > 0 ? `, with ${doubts}` : '');
};

const ended = (
  reading: Reading,
  turn: number,
  doubts: string,
): { readonly mark: Mark; readonly text: string } => {
  const seq = reading.state.turns[turn - 1]?.endedSeq ?? 0;
  const event = reading.events[seq - 1];
  if (event?.type !== 'turn.ended') return { mark: 'run', text: `Turn ${turn} is not over.` };
  const { outcome, message, empty } = event.data;
  const why = message === undefined ? '' : `: ${message.replace(/\.$/, '')}`;
  switch (outcome) {
    case 'done':
      return { mark: 'ok', text: `Turn ${turn} is done${empty ? ', without an answer' : ''}${doubts}.` };
    case 'failed':
      return { mark: 'fail', text: `Turn ${turn} failed${why}${doubts}.` };
    case 'refused':
      return { mark: 'fail', text: `Turn ${turn} was declined by the model${why}${doubts}.` };
    case 'stopped':
      return { mark: 'fail', text: `Turn ${turn} was stopped${why}${doubts}.` };
    case 'cancelled':
      return { mark: 'cancelled', text: `Turn ${turn} was cancelled${doubts}.` };
    default:
      return outcome satisfies never;
  }
};

/** The commands that a person can go on with: at most two. */
export const nextSteps = (state: SessionState, store: Mode = 'normal'): readonly NextStep[] => {
  const { approvals, inDoubt } = waiting(state);
  const held = holds(state, store);
  if (held !== undefined && approvals.length + inDoubt.length === 0)
    return [{ command: command('mode', 'normal', ...(held === 'session' ? [state.session] : [])) }];
  const both = approvals.length > 0 && inDoubt.length > 0;
  const note = (text: string): { readonly note?: ReturnType<typeof theirs> } =>
    both ? { note: theirs(text) } : {};
  return [
    ...(approvals.length > 0
      ? [
          {
            command: command('approvals', state.session),
            ...note(countOf(approvals.length, 'decision')),
          },
        ]
      : []),
    ...(inDoubt.length > 0
      ? [{ command: command('settle', state.session), ...note(`${inDoubt.length} in doubt`) }]
      : []),
  ];
};

/** Prints how a turn stands and what to do next; answers the exit code. */
export const finish = async (
  cli: Cli,
  { reading, interrupted }: Driven,
  turn?: number,
): Promise<ExitCode> => {
  const { screen } = cli;
  const { state } = reading;
  const shown = turn ?? state.active?.turn ?? state.turns.length;
  if (interrupted) return interruptedEnd(cli, state.session);
  const gate = await storeMode(await cli.store());
  const code = exitOf(state, shown, gate.mode);
  if (screen.jsonMode) {
    screen.jsonLine({ rest: restJson(reading, shown, gate.mode) });
    return code;
  }
  if (screen.quiet) {
    const text = finalText(reading, shown);
    if (text !== '') screen.out(...theirLines(text));
    return code;
  }
  const { mark, text } = turnSentence(reading, shown, gate.mode);
  screen.out(
    EMPTY,
    line`${sign(mark)} ${text} ${totalsText(sessionHead(reading))}.`,
    ...modeLines('This session', sessionMode(reading.events), cli, screen.look),
    ...modeLines('The whole store', gate, cli, screen.look),
  );
  const [first, second] = nextSteps(state, gate.mode);
  if (first) screen.next(first, ...(second ? ([second] as const) : []));
  return code;
};

const interruptedEnd = (cli: Cli, session: string): ExitCode => {
  cli.screen.note(EMPTY, line`Interrupted. Session ${session} is whole up to its last event.`);
  cli.screen.next({ command: command('resume', session) });
  return EXIT.interrupted;
};

/** The last thing that the model said in a turn. */
export const finalText = (reading: Reading, turn: number): string => {
  const response = reading.events.findLast(
    (event) => event.type === 'response.received' && event.data.turn === turn,
  );
  if (response?.type !== 'response.received') return '';
  return response.data.content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n')
    .trimEnd();
};

const restJson = (reading: Reading, turn: number, store: Mode): Readonly<Record<string, unknown>> => {
  const { state } = reading;
  const { approvals, inDoubt } = waiting(state);
  return {
    session: state.session,
    seq: state.seq,
    status: statusOf(state),
    mode: { session: state.mode.session, store },
    turn,
    outcome: state.turns[turn - 1]?.outcome ?? null,
    approvals,
    inDoubt,
    cost: state.costUnknown ? null : state.cost,
    text: finalText(reading, turn),
  };
};
