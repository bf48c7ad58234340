/** onrecord rehearse: a session tried again with another model, prompt, tool set or policy; nothing is done in the world. */
import { badInput } from '../../errors.ts';
import {
  rehearse as rehearsed,
  type AskedAnswer,
  type AskedCall,
  type Missing,
  type Rehearsal,
} from '../../rehearse/rehearse.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { namedSession, openRecord } from '../record.ts';
import { readSession } from '../session-drive.ts';
import { rehearsalAgent } from '../rehearsal-agent.ts';
import { rehearsalLines } from '../rehearsal-lines.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs } from '../terminal/shown.ts';

const MISSING: readonly Missing[] = ['stop', 'stub', 'ask'];

export const rehearse: Command = {
  name: 'rehearse',
  summary:
    'Tries a session again with another model, prompt, tool set or policy, and compares. Nothing is done in the world.',
  arguments: [{ name: 'session', description: 'the recorded session', required: true }],
  options: [
    {
      flags: '--model <name>',
      description: 'another model: that of an agent here, by either name, or a script.yaml',
    },
    { flags: '--agent <name>', description: 'another agent: its model, instructions, tools and policy' },
    { flags: '--instructions <file>', description: 'other instructions' },
    { flags: '--tools <names>', description: 'only these tools, by name, with commas' },
    { flags: '--policy <file>', description: 'another policy: a list of rules as an agent file has it' },
    {
      flags: '--missing <what>',
      description: 'a call that the record has no result of: stop, stub or ask',
      default: 'stop',
    },
    {
      flags: '--run-reads',
      description: 'tools that only read may run for such a call; no other tool ever does',
    },
    { flags: '--words', description: 'other words count as a difference, too' },
    { flags: '--keep', description: 'keep the rehearsal in the store, marked as one' },
  ],
  example: 'onrecord rehearse s_7Q2N8B4M --model acme-large-6',
  exits: [
    EXIT.done,
    EXIT.failed,
    EXIT.usage,
    EXIT.tooNew,
    EXIT.proofFailed,
    EXIT.notJudged,
    EXIT.store,
    EXIT.diverged,
    EXIT.interrupted,
  ],
  async run(cli, input) {
    const { screen } = cli;
    const session = namedSession(input, 'rehearse');
    const missing = missingOf(cli, input);
    const store = await openRecord(cli);
    const { state } = await readSession(store, session);
    const agent = await rehearsalAgent(cli, state.agent, input);
    const progress = screen.progress(own('rehearsing'));
    let events = 0;
    try {
      const found = await rehearsed({
        store,
        session,
        agent,
        missing,
        ask: (call) => ask(cli, call),
        reads: isGiven(input, 'runReads') ? 'run' : 'record',
        keep: isGiven(input, 'keep'),
        signal: cli.interrupt.signal,
        onEvent: ({ type }) => progress.set({ done: ++events, unit: 'events', note: theirs(type) }),
      });
      progress.end();
      return print(cli, found, isGiven(input, 'words'));
    } finally {
      progress.end();
    }
  },
};

const missingOf = ({ screen }: Cli, input: Input): Missing => {
  const given = givenOption(input, 'missing') ?? 'stop';
  const missing = MISSING.find((one) => one === given);
  if (!missing)
    throw badInput(
      'usage',
      `--missing "${given}" is none of ${MISSING.join(', ')}.`,
      {},
      'onrecord help rehearse',
    );
  if (missing === 'ask' && !screen.canAsk)
    throw badInput('usage', '--missing ask needs a terminal: here nobody can be asked. Use stop or stub.');
  return missing;
};

const ask = async ({ screen }: Cli, { id, tool, args }: AskedCall): Promise<AskedAnswer> => {
  const question = [
    EMPTY,
    line`${SIGN.wait} Call ${id} is not in the record: ${strong(tool)} ${args}`,
    line`  ${strong('r')} give a result   ${strong('s')} go on as if it had worked   ${strong('q')} stop here`,
  ];
  const answer = await screen.askKey(question, ['r', 's', 'q']);
  if (answer.kind !== 'key' || answer.key === 'q') return { do: 'stop' };
  if (answer.key === 's') return { do: 'stub' };
  const given = await screen.askLine(own('  Its result: '));
  return given.kind === 'line' ? { do: 'result', text: given.text } : { do: 'stop' };
};

const print = ({ screen }: Cli, found: Rehearsal, words: boolean): ExitCode => {
  const code = exitOf(found, words);
  if (screen.jsonMode) {
    const { events: _, ...rest } = found;
    screen.json({ ...rest, same: code === EXIT.done });
    return code;
  }
  screen.out(...rehearsalLines(found, screen.look));
  if (found.kept !== undefined) {
    screen.out(
      EMPTY,
      dim(line`Kept as ${found.kept}. It is marked as a rehearsal and cannot be gone on with.`),
    );
    screen.next({ command: command('show', found.kept) });
  }
  return code;
};

/** A model that could not be asked says nothing about what it would have done. */
const exitOf = (
  { sameDeeds, sameWords, stopped, turns, divergence }: Rehearsal,
  words: boolean,
): ExitCode => {
  if (stopped?.reason === 'interrupted') return EXIT.interrupted;
  const end = turns.findLast(({ rehearsed: turn }) => turn !== undefined);
  const failed = end?.rehearsed?.outcome === 'failed' && end.recorded?.outcome !== 'failed';
  if (failed && divergence !== undefined) return EXIT.notJudged;
  return sameDeeds && (sameWords || !words) ? EXIT.done : EXIT.diverged;
};
