/** onrecord help: what there is, and how one command is used. */
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';

export const help: Command = {
  name: 'help',
  summary: 'Shows what there is, or how one command is used.',
  arguments: [{ name: 'command', description: 'a command, or exit-codes', required: false }],
  options: [],
  example: 'onrecord help run',
  exits: [EXIT.done, EXIT.usage],
  async run() {
    return EXIT.done;
  },
};
