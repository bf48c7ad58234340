/** THE CONSOLE: finds the command, loads only its code, and turns what comes of it into an exit code. */
import { Command as Parser } from 'commander';
import { userInfo } from 'node:os';
import { systemClock } from '../clock.ts';
import { badInput } from '../errors.ts';
import { Cli } from './cli.ts';
import type { Command, Input } from './command.ts';
import { COMMANDS } from './commands.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { EXIT, exitCodeOf, type ExitCode } from './exit-code.ts';
import { openScreen, type Screen } from './terminal/screen.ts';
import type { ColourChoice } from './terminal/look.ts';
import { line, theirs } from './terminal/shown.ts';
import { unknownCommand, usageProblem } from './usage.ts';
import { PROGRAM } from '../worker/program.ts';

export type Process = Pick<NodeJS.Process, 'argv' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'cwd' | 'once'>;

export const main = async (process: Process): Promise<ExitCode> => {
  const [name = 'help', ...rest] = process.argv.slice(2);
  if (name === '--version' || name === '-V') return version(process);
  const word = name === '--help' || name === '-h' ? 'help' : name;
  // Own names only: "constructor" is no command.
  const known = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  const load = known ?? COMMANDS['help'];
  if (!load) throw badInput('usage', 'The command help is missing.');
  const command = await load();
  if (known && asksForHelp(rest)) return helpOn(name, rest, process);
  let input: Input | undefined;
  const parser = parserOf(command, (parsed) => (input = parsed));
  try {
    if (!known) throw unknownCommand(name);
    await parser.parseAsync(rest, { from: 'user' });
  } catch (error) {
    screenOf(process, parser.opts()).error(usageProblem(error, command, rest));
    return EXIT.usage;
  }
  if (!input) return EXIT.done;
  return run(command, input, process);
};

const version = (process: Process): ExitCode => {
  screenOf(process, { json: process.argv.includes('--json') }).out(line`${theirs(PROGRAM)}`);
  return EXIT.done;
};

/** `onrecord run --help` is `onrecord help run`; what stands after "--" is no option. */
const asksForHelp = (words: readonly string[]): boolean => {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).some((word) => word === '--help' || word === '-h');
};

const helpOn = async (name: string, words: readonly string[], process: Process): Promise<ExitCode> => {
  const load = COMMANDS['help'];
  if (!load) throw badInput('usage', 'The command help is missing.');
  const about = name.startsWith('-') ? [] : [name];
  const options = { json: words.includes('--json'), ascii: words.includes('--ascii') };
  return run(await load(), { args: about, options }, process);
};

const run = async (command: Command, input: Input, process: Process): Promise<ExitCode> => {
  const screen = screenOf(process, input.options);
  const { store, config, trace } = input.options;
  const cli = new Cli({
    screen,
    cwd: process.cwd(),
    user: userName(process.env),
    storePath: typeof store === 'string' ? store : undefined,
    configPath: typeof config === 'string' ? config : undefined,
  });
  process.once('SIGINT', () => cli.interrupt.abort());
  try {
    const code = await command.run(cli, input);
    return cli.interrupt.signal.aborted ? EXIT.interrupted : code;
  } catch (error) {
    screen.error(error, { trace: trace === true });
    return exitCodeOf(error);
  } finally {
    await cli.close();
  }
};

const parserOf = (command: Command, parsed: (input: Input) => void): Parser => {
  const parser = new Parser(command.name).exitOverride().configureOutput({ writeOut: noop, writeErr: noop });
  parser.helpOption(false).allowExcessArguments(false);
  for (const { name, description, required } of command.arguments)
    parser.argument(required ? `<${name}>` : `[${name}]`, description);
  for (const [flags, description] of GLOBAL_OPTIONS) parser.option(flags, description);
  for (const { flags, description, default: value, many } of command.options)
    if (many === true) parser.option(flags, description, collected, []);
    else parser.option(flags, description, value);
  return parser.action((...values: unknown[]) => {
    const args = values.slice(0, command.arguments.length) as (string | undefined)[];
    parsed({ args, options: parser.opts() });
  });
};

const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const noop = (): void => undefined;

const screenOf = (process: Process, options: Input['options']): Screen => {
  const { color, ascii, utc, quiet, json } = options;
  const choices: readonly ColourChoice[] = ['auto', 'always', 'never'];
  return openScreen({
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    clock: systemClock,
    color: choices.find((choice) => choice === color) ?? 'auto',
    ascii: ascii === true,
    utc: utc === true,
    quiet: quiet === true,
    json: json === true,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
};

/** The account's name; systems without one for this user fall back to what the environment says. */
const userName = (env: NodeJS.ProcessEnv): string => {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] ?? 'unknown';
  }
};
