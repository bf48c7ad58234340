/** The exit code of several outcomes together. */
import { EXIT, type ExitCode } from './exit-code.ts';

/** What a person has to know first; see the table of exit codes in the help. */
const URGENCY: readonly ExitCode[] = [
  EXIT.interrupted,
  EXIT.store,
  EXIT.tooNew,
  EXIT.proofFailed,
  EXIT.inDoubt,
  EXIT.waiting,
  EXIT.notJudged,
  EXIT.failed,
  EXIT.stopped,
];

export const mostUrgent = (codes: readonly ExitCode[]): ExitCode =>
  URGENCY.find((code) => codes.includes(code)) ?? codes[0] ?? EXIT.done;
