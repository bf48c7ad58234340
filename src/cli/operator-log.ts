/** What an operator should know of a process that serves or works, on stderr: JSON for programs, text for people. */
import { systemClock } from '../clock.ts';
import { badInput } from '../errors.ts';
import type { JsonObject } from '../event/json.ts';
import type { Logger } from '../tool/tool.ts';
import type { Input, Option } from './command.ts';
import { givenOption } from './given.ts';
import { line, SIGN, theirs, type Shown } from './terminal/shown.ts';
import type { Screen } from './terminal/screen.ts';

export const LOG_OPTION: Option = {
  flags: '--log <form>',
  description:
    'what an operator should know, on stderr: json, one object a line, or text; default text on a terminal',
};

/** Throws `log-form-unknown`. */
export const operatorLog = (screen: Screen, input: Input): Logger => {
  const form = givenOption(input, 'log') ?? (screen.canAsk ? 'text' : 'json');
  if (form === 'json') return JSON_LOG;
  if (form === 'text') return textLog(screen);
  throw badInput('log-form-unknown', `--log "${form}" is no form of a log; there are json and text.`, {
    form,
  });
};

const say = (level: string, message: string, data: object = {}): void => {
  const at = new Date(systemClock.now()).toISOString();
  process.stderr.write(`${JSON.stringify({ at, level, message, ...data })}\n`);
};

const JSON_LOG: Logger = {
  info: (message, data) => say('info', message, data),
  warn: (message, data) => say('warn', message, data),
};

const textLog = (screen: Screen): Logger => ({
  info: (message, data) => screen.note(line`  ${theirs(message)}${about(data)}`),
  warn: (message, data) => screen.note(line`${SIGN.wait} ${theirs(message)}${about(data)}`),
});

/** The session and the code, behind the words. */
const about = ({ session, code }: JsonObject = {}): Shown => {
  const parts = [session, code].flatMap((part) => (typeof part === 'string' && part !== '' ? [part] : []));
  return parts.length === 0 ? line`` : line` (${theirs(parts.join(', '))})`;
};
