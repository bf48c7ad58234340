/**
 * THE table between the neutral words of the field cases and the product's own. A word that does not stand here
 * makes the test fail, so that nothing passes because nobody knew what it meant.
 */
import type { LogEvent } from '../../src/event/events.ts';

type Holds = (event: LogEvent) => boolean;
type EventOf<T extends LogEvent['type']> = Extract<LogEvent, { type: T }>;

const is =
  <T extends LogEvent['type']>(type: T, more: (data: EventOf<T>['data']) => boolean = () => true): Holds =>
  (event) =>
    event.type === type && more(event.data as EventOf<T>['data']);
const any =
  (...holds: readonly Holds[]): Holds =>
  (event) =>
    holds.some((one) => one(event));

/** Log entries. */
export const EVENTS: Readonly<Record<string, Holds>> = {
  'turn.accepted': is('turn.accepted'),
  // A first attempt begins with its request; each further one is an entry of its own.
  'model.request': any(is('request.built'), is('request.sent')),
  'model.response': is('response.received'),
  'model.attempt_failed': is('request.failed'),
  'run.ended': is('turn.ended'),
  'run.cancel_requested': is('turn.cancel_requested'),
  'server.started': is('driver.changed'),
  'approval.requested': is('approval.requested'),
  'approval.decided': is('approval.decided'),
  'approval.invalidated': is('approval.invalidated'),
  'approval.withdrawn': is('call.cancelled'),
  'tool.rejected': any(is('call.rejected'), is('call.refused')),
  'tool.quarantined': is('session.created', ({ agent }) => agent.setAside !== undefined),
  'tool.started': is('call.started'),
  'tool.finished': is('call.result', ({ outcome }) => outcome.kind === 'ok'),
  'tool.failed': any(is('call.failed'), is('call.refused')),
  'tool.not_executed': is('call.withheld'),
  'tool.cancelled': any(
    is('call.cancelled'),
    is('call.rejected', ({ reason }) => reason === 'cancelled'),
  ),
  'tool.unknown_outcome': is('call.doubted'),
  'tool.timeout': is(
    'call.result',
    (data) => data.outcome.kind === 'unknown' && data.outcome.code === 'timeout',
  ),
  'tool.late_result': is('call.late'),
  // Found right before the call that it concerns, and refused there.
  'mcp.tools_changed': is('call.refused', ({ code }) => code === 'tool-changed'),
  // Said to people before the call, and to the model with its result.
  'mcp.session_lost': is('call.prepared', ({ preview }) => /begun anew/.test(JSON.stringify(preview))),
  'mcp.session_started': is('call.result', ({ outcome }) => /begun anew/.test(JSON.stringify(outcome))),
};

/**
 * Words for a state and not for an entry: it is looked at when the run rests. A session here rests by itself, so
 * there is no entry for a pause or for going on.
 */
export const STATES_NOT_ENTRIES: ReadonlySet<string> = new Set(['run.paused', 'run.resumed']);

/** Machine-readable reasons; where one word covers several of ours, each is right. */
export const REASONS: Readonly<Record<string, readonly string[]>> = {
  arguments_truncated: ['arguments-truncated'],
  arguments_truncated_suspected: ['arguments-truncated-suspected'],
  arguments_invalid_json: ['arguments-invalid-json'],
  arguments_not_object: ['arguments-not-object'],
  duplicate_key: ['arguments-duplicate-key'],
  too_deep: ['arguments-too-deep'],
  not_well_formed: ['arguments-not-well-formed'],
  number_not_exact: ['arguments-number-not-exact'],
  schema: ['arguments-schema'],
  unknown_tool: ['unknown-tool'],
  too_many_invalid_calls: ['invalidCallsInARow'],
  repeated_call: ['repeatedCalls'],
  context_overflow: ['context-overflow'],
  read_only: ['read-only'],
  address_blocked: ['address-blocked'],
  body_too_large: ['body-too-large'],
  protected_path: ['protected-path'],
  outside_root: ['outside-root'],
  header_has_line_break: ['header-has-line-break', 'arguments-schema'],
  preview_stale: ['preview-changed'],
  arguments_changed: ['preview-changed'],
  not_started: [],
  tool_changed: ['tool-changed'],
  // Stands in a list of such tools.
  schema_too_deep: [],
  ECONNRESET: ['ECONNRESET'],
};

/** The state in which a run rests. A turn that a limit ended is stopped here, and counts as failed there. */
export const RUNS: Readonly<Record<string, readonly string[]>> = {
  completed: ['done'],
  failed: ['failed', 'stopped'],
  refused: ['refused'],
  cancelled: ['cancelled'],
  waiting_approval: ['waiting'],
  waiting_resolution: ['in-doubt'],
};

export const STOPS = {
  max_tokens: 'length',
  tool_use: 'calls',
  tool_calls: 'calls',
  end_turn: 'end',
  refusal: 'refusal',
} as const;

export const LIMITS: Readonly<Record<string, string>> = {
  invalid_calls_in_a_row: 'invalidCallsInARow',
  same_call_in_a_row: 'repeatedCalls',
  turns: 'stepsPerTurn',
  tool_result_bytes: 'resultBytes',
  blob_bytes: 'blobBytes',
};

export const PROBLEMS: Readonly<
  Record<number, 'rate-limited' | 'bad-request' | 'unavailable' | 'context-overflow'>
> = {
  400: 'context-overflow',
  429: 'rate-limited',
  503: 'unavailable',
};
