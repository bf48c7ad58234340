/** A stage for the console: streams that can be terminals, and a clock that stands until it is moved. */
import { PassThrough } from 'node:stream';
import type { Clock } from '../../src/clock.ts';
import { openScreen, type Screen, type ScreenOptions } from '../../src/cli/terminal/screen.ts';

export type StageClock = Clock & { advance(ms: number): void; readonly pending: number };

type Due = { at: number; callback: () => void };

export const stageClock = (now: number = Date.UTC(2026, 10, 27, 13, 5)): StageClock => {
  let passed = 0;
  const due = new Set<Due>();
  return {
    now: () => now + passed,
    monotonic: () => passed,
    after(ms, callback) {
      const entry: Due = { at: passed + ms, callback };
      due.add(entry);
      return { cancel: () => due.delete(entry) };
    },
    advance(ms) {
      const until = passed + ms;
      for (;;) {
        const [next] = [...due].filter((entry) => entry.at <= until).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        due.delete(next);
        passed = next.at;
        next.callback();
      }
      passed = until;
    },
    get pending() {
      return due.size;
    },
  };
};

export class StageStream extends PassThrough {
  isTTY = false;
  columns: number | undefined;
  isRaw = false;
  rawModes: boolean[] = [];

  setRawMode(raw: boolean): this {
    this.isRaw = raw;
    this.rawModes.push(raw);
    return this;
  }

  /** Everything written so far. */
  get written(): string {
    for (let chunk: unknown = this.read(); Buffer.isBuffer(chunk); chunk = this.read())
      this.#written += chunk.toString('utf8');
    return this.#written;
  }
  #written = '';
}

export type Stage = {
  readonly screen: Screen;
  readonly stdin: StageStream;
  readonly stdout: StageStream;
  readonly stderr: StageStream;
  readonly clock: StageClock;
};

export type StageOptions = Partial<Omit<ScreenOptions, 'clock' | 'stdin' | 'stdout' | 'stderr'>> & {
  /** Which streams are terminals; default none. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly columns?: number;
};

export const ALL_TERMINALS = ['stdin', 'stdout', 'stderr'] as const;

export const stage = (options: StageOptions = {}): Stage => {
  const { terminals = [], columns, ...rest } = options;
  const streams = { stdin: new StageStream(), stdout: new StageStream(), stderr: new StageStream() };
  for (const name of terminals) {
    streams[name].isTTY = true;
    streams[name].columns = columns;
  }
  const clock = stageClock();
  const screen = openScreen({
    ...streams,
    clock,
    env: {},
    color: 'auto',
    ascii: false,
    utc: false,
    quiet: false,
    json: false,
    zone: 'Europe/Vienna',
    ...rest,
  });
  return { screen, clock, ...streams };
};

/** Our own colours, as written to terminals. */
// oxlint-disable-next-line no-control-regex
const OUR_SGR = /\u001b\[(?:0|1|3[1-6]|90)m/g;
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\p{Bidi_C}\p{Zl}\p{Zp}\p{NChar}\p{Co}\uFFF9-\uFFFB\u2800]|[\p{DI}--[\uFE0E\uFE0F]]/v;

/** The first character that must never be written, or undefined. Line feeds are ours. */
export const forbiddenIn = (written: string, colour: boolean): string | undefined => {
  const bare = (colour ? written.replace(OUR_SGR, '') : written).replaceAll('\n', '');
  const [found] = FORBIDDEN.exec(bare) ?? [];
  return found === undefined ? undefined : `U+${(found.codePointAt(0) ?? 0).toString(16)}`;
};
