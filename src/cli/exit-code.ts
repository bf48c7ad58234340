/** The exit codes of every command; `onrecord help exit-codes` prints them. */
import { isOnrecordError, type OnrecordError } from '../errors.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  inDoubt: 4,
  stopped: 5,
  tooNew: 6,
  proofFailed: 7,
  notJudged: 8,
  store: 9,
  notAllowed: 10,
  diverged: 11,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANING: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'the work failed (turn, scenario, decision refused)',
  2: 'the command line is wrong',
  3: 'waits for a person, or is held by a mode',
  4: 'in doubt: a person must settle a call',
  5: 'stopped by a limit, or cancelled',
  6: 'store or bundle was written by a newer program',
  7: 'proof failed: replay differs, verify found damage',
  8: 'could not be judged: suite errored, fault never reached',
  9: 'store not usable (locked, full, network folder, damaged)',
  10: 'not allowed (token, role, four eyes)',
  11: 'did otherwise: a rehearsal than its record, a suite than its baseline',
  130: 'interrupted by Ctrl C; the session is whole and can be resumed',
};

const USAGE_CODES: ReadonlySet<string> = new Set([
  'baseline-invalid',
  'baseline-not-found',
  'script-not-found',
  'suite-not-found',
  'suite-too-large',
  'file-exists',
  'redaction-matched-nothing',
  'redaction-invalid',
  'key-invalid',
  'bundle-redacted',
  'bundle-limit',
  'bundle-invalid',
  'anchor-without-session',
  'anchor-invalid',
  'usage',
  'agent-file-invalid',
  'agent-invalid',
  'agent-not-found',
  'call-invalid',
  'channel-invalid',
  'config-invalid',
  'config-not-found',
  'data-invalid',
  'fault-plan-invalid',
  'fault-plan-not-found',
  'file-not-writable',
  'fork-place-invalid',
  'fork-place-missing',
  'fork-too-deep',
  'kill-invalid',
  'kill-not-found',
  'digest-ambiguous',
  'duration-invalid',
  'grant-invalid',
  'log-form-unknown',
  'mode-unknown',
  'digest-invalid',
  'file-not-readable',
  'message-empty',
  'model-not-found',
  'policy-invalid',
  'rehearsal-nothing-to-say',
  'price-file-invalid',
  'price-file-not-found',
  'price-unknown',
  'model-invalid',
  'model-params-refused',
  'model-unknown',
  'number-invalid',
  'provider-invalid',
  'room-invalid',
  'scenario-invalid',
  'scenario-not-found',
  'script-invalid',
  'telemetry-settings-invalid',
  'tool-not-found',
  'turn-key-invalid',
  'value-not-utf8',
  'work-limits-invalid',
  'value-too-large',
]);

const NOT_ALLOWED_CODES: ReadonlySet<string> = new Set(['not-an-approver', 'four-eyes']);

export const exitCodeOf = (error: unknown): ExitCode => {
  if (!isOnrecordError(error)) return EXIT.failed;
  return byCode(error);
};

const byCode = ({ code, next }: OnrecordError): ExitCode => {
  if (
    code === 'store-too-new' ||
    code === 'event-too-new' ||
    code === 'bundle-too-new' ||
    code === 'anchor-too-new'
  )
    return EXIT.tooNew;
  if (code === 'store-copy-damaged') return EXIT.proofFailed;
  if (code.startsWith('store-')) return EXIT.store;
  if (code === 'fault-not-reached' || code === 'suite-empty' || code === 'suite-skipped')
    return EXIT.notJudged;
  if (next === 'corrupt') return EXIT.proofFailed;
  if (NOT_ALLOWED_CODES.has(code)) return EXIT.notAllowed;
  if (USAGE_CODES.has(code)) return EXIT.usage;
  return EXIT.failed;
};
