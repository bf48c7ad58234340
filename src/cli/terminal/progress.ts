/**
 * One line of progress on stderr: first after 500 ms, at most ten times a second, erased when done. What
 * is not a terminal gets a line each 10 s. Always with a number: a count, or the time it took so far.
 */
import type { Clock, Timer } from '../../clock.ts';
import { formatCount, formatDuration } from '../../view/format.ts';
import { concat, join, line, own, SIGN, theirs, type Shown } from './shown.ts';

const FIRST_SHOWN_MS = 500;
const TICK_MS = 100;
const PLAIN_TICK_MS = 10_000;
/** A rate from less time says nothing. */
const RATE_AFTER_MS = 1000;

export type ProgressState = {
  /** Things done so far. */
  readonly done?: number;
  readonly total?: number;
  /** What is counted, in the plural: "kills". */
  readonly unit?: string;
  /** Anything more: "0 wrong". */
  readonly note?: Shown;
};

export type Progress = {
  set(state: ProgressState): void;
  /** Erases the line. Safe to call twice. */
  end(): void;
};

/** Where the line goes; the screen takes it off and puts it back around other output. */
export type Painter = {
  /** Whether a line can be replaced. */
  readonly live: boolean;
  paint(progress: Shown): void;
  erase(): void;
};

const rate = (perSecond: number): Shown => {
  if (perSecond >= 10) return line`${formatCount(perSecond)} a second`;
  if (perSecond >= 1) return line`${perSecond.toFixed(1)} a second`;
  return line`${formatCount(perSecond * 60)} a minute`;
};

const left = (ms: number): Shown =>
  ms < 59_500
    ? line`about ${Math.max(1, Math.round(ms / 1000))} s left`
    : line`about ${formatDuration(ms)} left`;

export const progressLine = (label: Shown | undefined, state: ProgressState, elapsedMs: number): Shown => {
  const { done, total, unit, note } = state;
  const parts: Shown[] = [];
  if (done === undefined) parts.push(theirs(formatDuration(elapsedMs)));
  else {
    const of = total === undefined ? own('') : line` of ${formatCount(total)}`;
    parts.push(concat(formatCount(done), of, unit === undefined ? own('') : line` ${unit}`));
    const perSecond = done / (elapsedMs / 1000);
    const known = elapsedMs >= RATE_AFTER_MS && done > 0;
    if (known) parts.push(rate(perSecond));
    if (known && total !== undefined && total > done) parts.push(left(((total - done) / perSecond) * 1000));
  }
  if (note !== undefined) parts.push(note);
  const head = label === undefined ? own('') : line`${label}  `;
  return line`  ${SIGN.run} ${head}${join(parts, own('   '))}`;
};

export const startProgress = (label: Shown | undefined, clock: Clock, painter: Painter): Progress => {
  const startedMs = clock.monotonic();
  let state: ProgressState = {};
  let ended = false;
  let timer: Timer;
  const tick = (): void => {
    if (ended) return;
    painter.paint(progressLine(label, state, clock.monotonic() - startedMs));
    timer = clock.after(painter.live ? TICK_MS : PLAIN_TICK_MS, tick, true);
  };
  timer = clock.after(painter.live ? FIRST_SHOWN_MS : PLAIN_TICK_MS, tick, true);
  return {
    set(next) {
      state = next;
    },
    end() {
      if (ended) return;
      ended = true;
      timer.cancel();
      painter.erase();
    },
  };
};
