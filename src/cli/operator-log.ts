/** What an operator should know of a process that serves or works: one line of JSON each, on stderr. */
import { systemClock } from '../clock.ts';
import type { Logger } from '../tool/tool.ts';

const say = (level: string, message: string, data: object = {}): void => {
  const at = new Date(systemClock.now()).toISOString();
  process.stderr.write(`${JSON.stringify({ at, level, message, ...data })}\n`);
};

export const OPERATOR_LOG: Logger = {
  info: (message, data) => say('info', message, data),
  warn: (message, data) => say('warn', message, data),
};
