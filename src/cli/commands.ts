/** Every command by name; its code is loaded when it is called. In the order of `onrecord help`. */
import type { Command } from './command.ts';

export const COMMANDS: Readonly<Record<string, (() => Promise<Command>) | undefined>> = {
  help: async () => (await import('./commands/help.ts')).help,
};
