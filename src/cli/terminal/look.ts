/** What a stream can show, judged once from flags, environment and the stream; stdout and stderr apart. */
import { cells } from './cells.ts';
import type { Role, Shown, Span } from './shown.ts';

export type ColourChoice = 'auto' | 'always' | 'never';
export type Env = Readonly<Record<string, string | undefined>>;

/** Width when the terminal does not tell its own. */
const COLUMNS_UNKNOWN = 80;
const COLUMNS_MIN = 60;
/** Prose is not set wider than this; tables are. */
const TEXT_COLUMNS_MAX = 120;

export type Look = {
  /** A terminal: text may be cut, because its whole is one command away. */
  readonly terminal: boolean;
  /** Cells of a line, at least 60. */
  readonly columns: number;
  /** Cells of a line of prose, 60 to 120. */
  readonly textColumns: number;
  readonly colour: boolean;
  /** Bright black can be told from black. */
  readonly bright: boolean;
  readonly ascii: boolean;
  /** The cursor can be moved back and a line erased. */
  readonly erase: boolean;
};

export type LookChoices = {
  readonly env: Env;
  readonly color: ColourChoice;
  readonly ascii: boolean;
};

const set = (value: string | undefined): value is string => value !== undefined && value !== '';

/** The flag first, then NO_COLOR, then FORCE_COLOR, then what the stream is. */
const colourOf = (terminal: boolean, { env, color }: LookChoices): boolean => {
  if (color !== 'auto') return color === 'always';
  if (set(env['NO_COLOR'])) return false;
  if (set(env['FORCE_COLOR'])) return !/^(?:0|false)$/.test(env['FORCE_COLOR']);
  return terminal && env['TERM'] !== 'dumb';
};

/** Terminals whose terminfo entry has 8 colours or none. */
const FEW_COLOURS =
  /^(?:linux|xterm|xterm-color|screen|tmux|ansi|rxvt|cygwin|konsole|putty|eterm|vt\d+.*|cons\d+.*|dumb)$/i;

const brightOf = (env: Env): boolean => set(env['COLORTERM']) || !FEW_COLOURS.test(env['TERM'] ?? '');

/**
 * ASCII when the locale says something else than UTF-8. With no locale at all, as in most containers and
 * on Windows, terminals of today still are UTF-8.
 */
const asciiOf = ({ env, ascii }: LookChoices): boolean => {
  if (ascii) return true;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(set);
  return locale !== undefined && !/utf-?8/i.test(locale);
};

export type OutputStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

export const lookOf = (stream: OutputStream, choices: LookChoices): Look => {
  const terminal = stream.isTTY === true;
  const columnsNow = (): number => {
    const told = terminal ? stream.columns : undefined;
    return Math.max(COLUMNS_MIN, told !== undefined && told > 0 ? told : COLUMNS_UNKNOWN);
  };
  return {
    terminal,
    // Read anew for each line: a terminal may be resized, and what was written stays.
    get columns() {
      return columnsNow();
    },
    get textColumns() {
      return Math.min(columnsNow(), TEXT_COLUMNS_MAX);
    },
    colour: colourOf(terminal, choices),
    bright: brightOf(choices.env),
    ascii: asciiOf(choices),
    erase: terminal && choices.env['TERM'] !== 'dumb',
  };
};

const SGR: Readonly<Record<Role, number>> = {
  strong: 1,
  dim: 90,
  pen: 34,
  run: 36,
  wait: 33,
  doubt: 35,
  done: 32,
  fail: 31,
  add: 32,
  del: 31,
  untrusted: 33,
};

const coloured = (span: Span, look: Look): string => {
  if (!look.colour || span.role === undefined || span.text.trim() === '') return span.text;
  if (span.role === 'dim' && !look.bright) return span.text;
  return `\u001b[${SGR[span.role]}m${span.text}\u001b[0m`;
};

/** In ASCII where the stream has no more. Measure only what has passed here. */
export const fit = (shown: Shown, look: Look): Shown => (look.ascii ? shown.ascii() : shown);

/** The characters that are written: the text and, where the stream has colour, our own SGR. */
export const render = (shown: Shown, look: Look): string =>
  fit(shown, look)
    .spans.map((span) => coloured(span, look))
    .join('');

/** Longer than the terminal's line: the terminal would go on in column one. */
export const overflows = (shown: Shown, look: Look): boolean =>
  look.terminal && cells(fit(shown, look)) > look.columns;
