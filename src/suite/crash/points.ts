/** The fault points in words. */
import type { FaultPoint } from '../../worker/fault-point.ts';
import type { Boundary } from './boundary.ts';

export const POINT_WORDS: Readonly<Record<FaultPoint, string>> = {
  'append.before': 'before append of a decision',
  'append.after': 'after append of a decision',
  'request.before': 'before the model request',
  'request.after': 'after the reply, before record',
  'prepare.before': 'before the preview',
  'prepare.after': 'after the preview, before record',
  'call.before': 'between start and effect',
  'call.after': 'between effect and record',
  'reconcile.before': 'before asking the world',
  'reconcile.after': 'after asking, before record',
  'command.before': 'between a command and its record',
  'command.after': 'after record of a command',
};

/** `files.append 1.2.1`, with the attempt where it is not the first. */
export const whereWords = ({ what, call, attempt }: Boundary): string =>
  [
    what,
    ...(call === undefined ? [] : [call]),
    ...(attempt !== undefined && attempt > 1 ? [`attempt ${attempt}`] : []),
  ].join(' ');
