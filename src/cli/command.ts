/** What a command of the console is: words for help, and one function. One file each under commands/. */
import type { Cli } from './cli.ts';
import type { ExitCode } from './exit-code.ts';

export type Argument = {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
};

export type Option = {
  /** As commander reads it: "-q, --quiet" or "--until <seq>". */
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  /** May be given again and again. */
  readonly many?: true;
};

export type Input = {
  readonly args: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
};

export type Command = {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly options: readonly Option[];
  /** One command line that works as it stands in the project's own folder. */
  readonly example: string;
  readonly exits: readonly ExitCode[];
  run(cli: Cli, input: Input): Promise<ExitCode>;
};
