/** The gate of the store and the modes of sessions, as people read them. */
import type { Actor } from '../event/content.ts';
import type { LogEvent } from '../event/events.ts';
import { MODES, type Mode } from '../event/definition.ts';
import { open } from '../event/envelope.ts';
import type { SessionSummary } from '../event/summary.ts';
import type { LogStore } from '../log/store.ts';
import type { SessionState } from '../session/state.ts';
import { MODE_WORDS } from '../view/terms.ts';
import { CONTROL_LOG } from '../worker/gate.ts';
import type { Cli } from './cli.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { line, own, SIGN, strong, type Shown } from './terminal/shown.ts';

/** A mode, and the event that set it; without one it was never set. */
export type StandingMode = {
  readonly mode: Mode;
  readonly set?: {
    readonly seq: number;
    readonly at: number;
    readonly by: Actor;
    readonly reason?: string;
  };
};

const standing = (event: LogEvent | undefined): StandingMode => {
  if (event?.type !== 'mode.changed') return { mode: 'normal' };
  const { mode, by, reason } = event.data;
  return { mode, set: { seq: event.seq, at: event.at, by, ...(reason !== undefined && { reason }) } };
};

/** The gate of the whole store, from the log that holds it. */
export const storeMode = async (store: LogStore): Promise<StandingMode> => {
  if (!(await store.head(CONTROL_LOG))) return { mode: 'normal' };
  const events = (await store.read(CONTROL_LOG)).map(open);
  return standing(events.findLast((event) => event.type === 'mode.changed'));
};

/** A session's own mode, from its events: what it began with, or what somebody set. */
export const sessionMode = (events: readonly LogEvent[]): StandingMode => {
  const changed = events.findLast((event) => event.type === 'mode.changed' && event.data.scope === 'session');
  if (changed) return standing(changed);
  const created = events.find((event) => event.type === 'session.created');
  return { mode: (created?.type === 'session.created' ? created.data.mode : undefined) ?? 'normal' };
};

/** Nothing where calls start as policy says. */
export const modeLines = (what: string, { mode, set }: StandingMode, cli: Cli, look: Look): Shown[] => {
  if (mode === 'normal') return [];
  const who = set && (set.by.name === cli.actor.name ? 'you' : set.by.name);
  const when = set ? line`, set by ${who ?? ''} ${cli.screen.time(set.at)}` : own('');
  const why = set?.reason === undefined ? own('') : line`: ${set.reason}`;
  return wrap(
    fit(line`${SIGN.wait} ${what} is ${strong(mode)}: ${MODE_WORDS[mode]}${when}${why}`, look),
    look.textColumns,
    { hanging: 2, strict: true },
  );
};

/** What keeps an active turn from going on by itself; undefined where nothing does. */
export const holds = (state: SessionState, store: Mode): 'session' | 'store' | undefined => {
  if (!state.active) return undefined;
  if (state.mode.session === 'frozen') return 'session';
  return store === 'frozen' ? 'store' : undefined;
};

/** The same from a summary: a turn that runs, waits for nobody and cannot go on is frozen by its session's mode. */
export const isHeld = ({ status, canGoOn, waits }: SessionSummary): boolean =>
  status === 'running' && !canGoOn && waits?.for !== 'unpark';

/** Nobody drives it until a person says so. */
export const isParked = ({ waits }: SessionSummary): boolean => waits?.for === 'unpark';

export const isMode = (word: string): word is Mode => MODES.some((mode) => mode === word);
