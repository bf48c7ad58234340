/** onrecord help: what there is, and how one command is used. */
import { badInput } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { GLOBAL_OPTIONS } from '../global-options.ts';
import { EXIT, EXIT_MEANING, type ExitCode } from '../exit-code.ts';
import { nearest } from '../../view/nearest.ts';
import { wrap } from '../terminal/cells.ts';
import {
  concat,
  dim,
  EMPTY,
  join,
  line,
  own,
  repeat,
  strong,
  theirs,
  whole,
  type Shown,
} from '../terminal/shown.ts';
import { pad } from '../terminal/cells.ts';

/** Every command by the group it stands in, in the order of a working day. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Begin', ['init', 'docs', 'help']],
  ['Work', ['run', 'send', 'resume', 'cancel']],
  [
    'Decide',
    ['approvals', 'approve', 'edit', 'reject', 'respond', 'grants', 'revoke', 'settle', 'unpark', 'mode'],
  ],
  ['Look', ['sessions', 'show', 'context', 'cache', 'cost']],
  ['Prove', ['replay', 'verify', 'rehearse', 'fork', 'anchor', 'export', 'import']],
  ['Test', ['suite', 'crash-test', 'measure']],
  ['Run it', ['serve', 'worker', 'tokens', 'agents', 'tools', 'mcp', 'models', 'doctor']],
  ['Keep', ['backup', 'restore', 'copy', 'migrate']],
];

const TOPIC_EXIT_CODES = 'exit-codes';

export const help: Command = {
  name: 'help',
  summary: 'Shows what there is, or how one command is used.',
  arguments: [{ name: 'command', description: `a command, or ${TOPIC_EXIT_CODES}`, required: false }],
  options: [],
  example: 'onrecord help run',
  exits: [EXIT.done, EXIT.usage],
  async run(cli, { args }) {
    const [topic] = args;
    if (topic === undefined) return overview(cli);
    if (topic === TOPIC_EXIT_CODES) return exitCodes(cli);
    const known = await commands();
    const load = Object.hasOwn(known, topic) ? known[topic] : undefined;
    if (load) return about(cli, await load());
    const near = nearest(topic, [...Object.keys(known), TOPIC_EXIT_CODES]);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    throw badInput('usage', `There is no command "${topic}".${meant}`, { topic }, 'onrecord help');
  },
};

/** Loaded when asked for: the list of commands names this one, too. */
const commands = async (): Promise<Readonly<Record<string, (() => Promise<Command>) | undefined>>> =>
  (await import('../commands.ts')).COMMANDS;

const overview = async ({ screen }: Cli): Promise<ExitCode> => {
  const known = await commands();
  const groups = GROUPS.map(
    ([title, names]) => [title, names.filter((name) => Object.hasOwn(known, name))] as const,
  ).filter(([, names]) => names.length > 0);
  if (screen.jsonMode) {
    screen.json(Object.fromEntries(groups));
    return EXIT.done;
  }
  const width = Math.max(...groups.map(([title]) => title.length)) + 2;
  screen.out(
    line`${strong(own('onrecord'))}: run tool-using agents on the record.`,
    EMPTY,
    line`  onrecord run AGENT "message"       start a session`,
    line`  onrecord send SESSION "message"    go on with one`,
    EMPTY,
    ...groups.map(([title, names]) => concat(pad(strong(title), width), join(names, own('  ')))),
    EMPTY,
    line`Everywhere   --json   --store PATH   --color auto|always|never   --utc   -q`,
    line`Exit codes   0 done  1 failed  2 usage  3 waits for a person  4 in doubt`,
    line`             5 stopped  7 proof failed     all: onrecord help exit-codes`,
    EMPTY,
    line`onrecord help COMMAND shows options and an example that works as it stands.`,
  );
  return EXIT.done;
};

const exitCodes = ({ screen }: Cli): ExitCode => {
  if (screen.jsonMode) {
    screen.json(EXIT_MEANING);
    return EXIT.done;
  }
  screen.out(
    ...Object.entries(EXIT_MEANING).map(
      ([code, meaning]) => line`${pad(strong(code), 3, 'right')}  ${meaning}`,
    ),
    EMPTY,
    line`When several apply: 4, then 3, then 8, then 1.`,
  );
  return EXIT.done;
};

const about = ({ screen }: Cli, command: Command): ExitCode => {
  const { name, summary, example, exits } = command;
  if (screen.jsonMode) {
    const { arguments: taken, options } = command;
    screen.json({ name, summary, arguments: taken, options, example, exits });
    return EXIT.done;
  }
  const { textColumns } = screen.look;
  screen.out(theirs(summary), EMPTY, line`  ${usage(command)}`);
  screen.out(...section(argumentRows(command), textColumns));
  screen.out(...section(optionRows(command), textColumns));
  screen.out(EMPTY, line`${dim(own('Example'))}`, line`  ${whole(example)}`, EMPTY);
  screen.out(
    ...exits.map((code) => line`${dim(own('Exit'))} ${pad(strong(code), 3, 'right')}  ${EXIT_MEANING[code]}`),
  );
  return EXIT.done;
};

const usage = ({ name, arguments: taken, options }: Command): Shown => {
  const words = taken.map((argument) => {
    const word = argument.name.toUpperCase();
    return argument.required ? word : `[${word}]`;
  });
  return line`onrecord ${[name, ...words, ...(options.length > 0 ? ['[options]'] : [])].join(' ')}`;
};

type HelpRow = readonly [name: string, description: string];

const argumentRows = ({ arguments: taken }: Command): HelpRow[] =>
  taken.map(({ name, description, required }) => [
    name.toUpperCase(),
    required ? description : `${description} (may be left out)`,
  ]);

const optionRows = ({ options }: Command): HelpRow[] => [
  ...options.map(({ flags, description, default: value }): HelpRow => [
    flags,
    value === undefined ? description : `${description}, default ${value}`,
  ]),
  ...GLOBAL_OPTIONS,
];

/** One aligned list; long descriptions go on under themselves. */
const section = (rows: readonly HelpRow[], columns: number): Shown[] => {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    EMPTY,
    ...rows.flatMap(([name, description]) =>
      wrap(concat(repeat(' ', 2), pad(strong(name), width), own('   '), theirs(description)), columns, {
        hanging: width + 5,
      }),
    ),
  ];
};
