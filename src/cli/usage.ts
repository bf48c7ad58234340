/** What is wrong with a command line, in our words: what was given, what was expected, what may have been meant. */
import { CommanderError } from 'commander';
import { badInput, type OnrecordError } from '../errors.ts';
import { nearest } from '../view/nearest.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';

const meant = (near: string | undefined): string => (near === undefined ? '' : ` Did you mean ${near}?`);

export const unknownCommand = (name: string): OnrecordError => {
  if (name.startsWith('-'))
    return badInput(
      'usage',
      `"${name}" stands where a command has to: options come behind it.`,
      {},
      'onrecord help',
    );
  const near = nearest(name, Object.keys(COMMANDS));
  return badInput('usage', `There is no command "${name}".${meant(near)}`, {}, 'onrecord help');
};

/** How a command is called: "onrecord run AGENT MESSAGE". */
export const calledAs = ({ name, arguments: taken }: Pick<Command, 'name' | 'arguments'>): string =>
  [
    'onrecord',
    name,
    ...taken.map(({ name: word, required }) => (required ? word.toUpperCase() : `[${word.toUpperCase()}]`)),
  ].join(' ');

/** "--quiet" of "-q, --quiet" and "--no-drive" of itself. */
const longNames = (command: Command): readonly string[] =>
  [...command.options.map(({ flags }) => flags), ...GLOBAL_OPTIONS.map(([flags]) => flags)].flatMap(
    (flags) => /--[a-z-]+/.exec(flags) ?? [],
  );

/** What the parser found, as an error of ours; anything else as it is. */
export const usageProblem = (error: unknown, command: Command, words: readonly string[]): unknown => {
  if (!(error instanceof CommanderError)) return error;
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  const say = (message: string): OnrecordError =>
    badInput('usage', message, {}, `onrecord help ${command.name}`);
  switch (error.code) {
    case 'commander.unknownOption': {
      const [name = quoted] = quoted.split('=');
      return say(`${command.name} has no option "${name}".${meant(nearest(name, longNames(command)))}`);
    }
    case 'commander.missingArgument':
      return say(`${quoted.toUpperCase()} is missing. It is called as ${calledAs(command)}.`);
    case 'commander.optionMissingArgument':
      return say(`The option "${quoted}" wants a value behind it.`);
    case 'commander.excessArguments':
      return say(
        `${command.name} takes ${count(command.arguments.length)}: ${calledAs(command)}.${command.arguments.length > 0 ? ' A text of several words goes into quotes.' : ''}`,
      );
    default:
      return say(`"${words.join(' ')}" is no command line of ${command.name}.`);
  }
};

const count = (arguments_: number): string =>
  arguments_ === 0 ? 'no argument' : arguments_ === 1 ? 'one argument' : `${arguments_} arguments`;
