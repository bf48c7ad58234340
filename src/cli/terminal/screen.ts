/**
 * The screen: the only writer of the console. Results go to stdout, everything else to stderr; what may be
 * written is a Shown, so text of others cannot reach the terminal as it is.
 */
import type { Clock } from '../../clock.ts';
import { bug } from '../../errors.ts';
import { formatDay, formatDeadline, formatTime, isZone } from '../../view/format.ts';
import { askKey, askLine, type InputStream, type KeyAnswer, type LineAnswer } from './ask.ts';
import { wrap } from './cells.ts';
import { nextLines, type NextStep } from './command.ts';
import {
  fit,
  lookOf,
  overflows,
  render,
  type ColourChoice,
  type Env,
  type Look,
  type OutputStream,
} from './look.ts';
import { problemJson, problemLines, type ProblemOptions } from './problem.ts';
import { Paper } from './paper.ts';
import { startProgress, type Progress } from './progress.ts';
import { safeJson } from './json.ts';
import { EMPTY, theirLines, type Shown } from './shown.ts';
import { textStream, type TextStream } from './stream.ts';

export type ScreenOptions = {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: InputStream;
  readonly env: Env;
  readonly clock: Clock;
  readonly color: ColourChoice;
  readonly ascii: boolean;
  readonly utc: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
  /** IANA name of the zone times are shown in; TZ goes first. Default UTC. */
  readonly zone?: string;
};

export type Screen = {
  /** What stdout can show. */
  readonly look: Look;
  /** What stderr can show. */
  readonly noteLook: Look;
  readonly quiet: boolean;
  readonly jsonMode: boolean;
  /** The zone of every time shown, for the functions of view/format. */
  readonly zone: string;
  /** Results, to stdout. Does nothing in JSON mode. */
  out(...lines: readonly Shown[]): void;
  /** Everything else, to stderr. Does nothing when quiet. */
  note(...lines: readonly Shown[]): void;
  /** One JSON value to stdout; on a terminal over several lines. */
  json(value: unknown): void;
  /** One JSON value of a stream, on one line. */
  jsonLine(value: unknown): void;
  /** Exact bytes to stdout; a terminal gets their text with everything hidden made visible. */
  bytes(bytes: Uint8Array): void;
  /** The last lines: an empty one, then what to do next, to stderr. */
  next(first: NextStep, second?: NextStep): void;
  /** An error to stderr; in JSON mode also as `{"error": ...}` to stdout. */
  error(error: unknown, options?: Omit<ProblemOptions, 'look'>): void;
  /** Starts a line of progress on stderr. */
  progress(label?: Shown): Progress;
  /** Text that comes in pieces, to stdout. */
  stream(indent?: number): TextStream;
  /** A person can be asked: stdin and stderr are terminals and this is no CI. */
  readonly canAsk: boolean;
  /** Prints the question, then waits for one of the keys. */
  askKey(question: readonly Shown[], keys: readonly string[]): Promise<KeyAnswer>;
  askLine(prompt: Shown): Promise<LineAnswer>;
  /** A moment with its zone, see formatTime. */
  time(ms: number): string;
  deadline(ms: number): string;
  day(ms: number): string;
  /** Takes progress off the terminal. */
  close(): void;
};

const HANGING_CELLS = 4;

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== 'false';

/** A line of others' text that would run over the edge is wrapped by us: never in column one. */
const guarded = (shown: Shown, look: Look): Shown[] => {
  const theirs = shown.spans.some((span) => span.foreign === true);
  if (!theirs || !overflows(shown, look)) return [shown];
  return wrap(fit(shown, look), look.columns, { hanging: HANGING_CELLS, strict: true });
};

const zoneOf = ({ utc, env, zone }: ScreenOptions): string => {
  if (utc) return 'UTC';
  return [env['TZ'], zone].find((name) => name !== undefined && name !== '' && isZone(name)) ?? 'UTC';
};

type Streams = { readonly look: Look; readonly noteLook: Look; readonly paper: Paper };
type Printer = (to: 'stdout' | 'stderr', lines: readonly Shown[]) => void;

const printerOf =
  ({ look, noteLook, paper }: Streams): Printer =>
  (to, lines) => {
    const own = to === 'stdout' ? look : noteLook;
    const text = lines.flatMap((shown) => guarded(shown, own)).map((shown) => `${render(shown, own)}\n`);
    if (text.length > 0) paper.write(to, text.join(''));
  };

type Questions = Pick<Screen, 'canAsk' | 'askKey' | 'askLine'>;

const questionsOf = (options: ScreenOptions, streams: Streams, print: Printer): Questions => {
  const { stdin, stderr, clock, env } = options;
  const { noteLook, paper } = streams;
  const canAsk = stdin.isTTY === true && noteLook.terminal && !isSet(env['CI']);
  const asking = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    paper.hold(true);
    try {
      return await ask();
    } finally {
      paper.hold(false);
    }
  };
  return {
    canAsk,
    async askKey(question, keys) {
      if (!canAsk) return { kind: 'nobody' };
      return asking(() => {
        // Raw before the question shows: an early Ctrl C must reach us, not the process.
        const answer = askKey(stdin, clock, keys);
        print('stderr', question);
        return answer;
      });
    },
    async askLine(prompt) {
      if (!canAsk) return { kind: 'nobody' };
      return asking(() => askLine(stdin, clock, { prompt: render(prompt, noteLook), stderr }));
    },
  };
};

type Results = Pick<Screen, 'out' | 'json' | 'jsonLine' | 'bytes' | 'stream'>;

const resultsOf = (json: boolean, { look, paper }: Streams, print: Printer): Results => {
  const printJson = (value: unknown, indent: number): void =>
    paper.write('stdout', `${safeJson(value, indent)}\n`);
  return {
    out: (...lines) => (json ? undefined : print('stdout', lines)),
    json: (value) => printJson(value, look.terminal ? 2 : 0),
    jsonLine: (value) => printJson(value, 0),
    bytes(bytes) {
      if (!look.terminal) return paper.write('stdout', bytes);
      print('stdout', theirLines(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)));
    },
    stream: (indent = 0) =>
      textStream({ look, indent, write: (text) => (json ? undefined : paper.write('stdout', text)) }),
  };
};

export const openScreen = (options: ScreenOptions): Screen => {
  const { clock, quiet, json } = options;
  const look = lookOf(options.stdout, options);
  const noteLook = lookOf(options.stderr, options);
  const paper = new Paper({ ...options, look, noteLook });
  const streams = { look, noteLook, paper };
  const print = printerOf(streams);
  const results = resultsOf(json, streams, print);
  const zone = zoneOf(options);
  const moment = (): { zone: string; now: number } => ({ zone, now: clock.now() });
  return {
    look,
    noteLook,
    ...results,
    ...questionsOf(options, streams, print),
    quiet,
    jsonMode: json,
    zone,
    note: (...lines) => (quiet ? undefined : print('stderr', lines)),
    next(...steps) {
      if (steps.length > 2) throw bug('at most two commands are offered next');
      if (quiet) return;
      const lines = [EMPTY, ...nextLines(steps.filter((step) => step !== undefined))];
      // Not guarded: a command to paste stays one line.
      paper.write('stderr', lines.map((shown) => `${render(shown, noteLook)}\n`).join(''));
    },
    error(error, more = {}) {
      print('stderr', problemLines(error, { ...more, look: noteLook }));
      if (json) results.jsonLine({ error: problemJson(error) });
    },
    progress: (label) => startProgress(label, clock, paper),
    time: (ms) => formatTime(ms, moment()),
    deadline: (ms) => formatDeadline(ms, moment()),
    day: (ms) => formatDay(ms, moment()),
    close: () => paper.erase(),
  };
};
