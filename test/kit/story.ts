/**
 * Given events, when a fact or a command, then events: the pure core without a store, a clock or a driver.
 * After each event the decisions that follow are added, as whoever appends has to; `when` answers them.
 */
import { digestOf } from '../../src/event/canonical.ts';
import {
  LIMITS_DEFAULT,
  type AgentDefinition,
  type Limits,
  type Mode,
  type Policy,
  type ToolDefinition,
} from '../../src/event/definition.ts';
import type { Actor, ResponseBlock } from '../../src/event/content.ts';
import type { ApprovalDecision, LogEvent, NewDecision, NewEvent } from '../../src/event/events.ts';
import { conclude } from '../../src/session/conclude.ts';
import { decide, type Command, type Decision } from '../../src/session/decide.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import { next, waiting, workName, type Waiting } from '../../src/session/next.ts';
import { findCall, type CallState, type SessionState } from '../../src/session/state.ts';
import { START_MS } from './clock.ts';

export const ANNA: Actor = { kind: 'person', name: 'anna' };
export const BEN: Actor = { kind: 'person', name: 'ben' };

/** A tool as the record keeps it; everything may be said, nothing has to be. */
export const toolDefinition = (
  name: string,
  some: Partial<Omit<ToolDefinition, 'name'>> = {},
): ToolDefinition => {
  const data = {
    name,
    description: `the tool ${name}`,
    inputSchema: { type: 'object' },
    effect: 'once' as const,
    approval: 'policy' as const,
    timeoutMs: 1000,
    retry: { attempts: 1, baseMs: 100, maxMs: 1000 },
    labels: { untrusted: false, private: false },
    egress: false,
    previews: false,
    ...some,
  };
  return { ...data, digest: digestOf(data) };
};

/** One tool of each effect kind, named by it, that policy lets run. */
export const KINDS: readonly ToolDefinition[] = [
  toolDefinition('none', { effect: 'none' }),
  toolDefinition('idempotent', { effect: 'idempotent', approval: 'never' }),
  toolDefinition('reconcilable', { effect: 'reconcilable', approval: 'never' }),
  toolDefinition('once', { effect: 'once', approval: 'never' }),
  toolDefinition('asks', { effect: 'once' }),
];

export type StoryOptions = {
  readonly tools?: readonly ToolDefinition[];
  readonly policy?: Policy;
  readonly limits?: Partial<Limits>;
  readonly mode?: Mode;
  /** Of the model. */
  readonly params?: AgentDefinition['model']['params'];
};

export const agentDefinition = ({
  tools = KINDS,
  policy = { rules: [] },
  limits = {},
  params = {},
}: StoryOptions = {}): AgentDefinition => ({
  name: 'clerk',
  instructions: 'Be exact.',
  model: { provider: 'scripted', name: 'story', params },
  tools,
  policy,
  limits: { ...LIMITS_DEFAULT, ...limits },
});

export class Story {
  #state: SessionState = initial('s_STORY');
  #at = START_MS;
  readonly events: LogEvent[] = [];

  constructor(options: StoryOptions = {}) {
    const { mode } = options;
    this.when({
      type: 'session.created',
      data: { agent: agentDefinition(options), program: 'story', ...(mode && { mode }) },
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Milliseconds pass before the next event. */
  later(ms: number): this {
    this.#at += ms;
    return this;
  }

  given(...events: readonly NewEvent[]): this {
    for (const event of events) this.when(event);
    return this;
  }

  /** Adds an event and answers the decisions that follow from it. */
  when(event: NewEvent): readonly NewDecision[] {
    this.#append(event);
    const decisions: NewDecision[] = [];
    for (let decision = conclude(this.#state); decision; decision = conclude(this.#state)) {
      if (decisions.length > 1000) throw new Error('conclude does not come to rest');
      this.#append(decision);
      decisions.push(decision);
    }
    return decisions;
  }

  /** Decides a command; where it leads to facts these and what follows are added. */
  command(command: Command): Decision & { readonly follow: readonly NewDecision[] } {
    const decision = decide(this.#state, command, this.#at);
    const facts = decision.kind === 'facts' ? decision.facts : [];
    return { ...decision, follow: facts.flatMap((fact) => this.when(fact)) };
  }

  /** Somebody answers the question that stands about a call; the answer's code, or what it is. */
  answer(id: CallState['id'], decision: ApprovalDecision, by: Actor = BEN): string {
    const { digest } = this.call(id);
    if (!digest) throw new Error(`${id} is not asked about`);
    const done = this.command({ kind: 'decide', call: id, digest, decision, by });
    return done.kind === 'refused' ? done.code : done.kind;
  }

  /** Names of the work that is due, as drivers know it. */
  get work(): readonly string[] {
    return next(this.#state).map((work) =>
      work.kind === 'start' ? `start ${work.call.id}#${work.attempt}` : workName(work),
    );
  }

  get waiting(): Waiting {
    return waiting(this.#state);
  }

  call(id: CallState['id']): CallState {
    const call = findCall(this.#state, id);
    if (!call) throw new Error(`no call ${id}`);
    return call;
  }

  #append(event: NewEvent): void {
    const placed: LogEvent = { ...event, seq: this.#state.seq + 1, at: this.#at };
    this.#state = evolve(this.#state, placed);
    this.events.push(placed);
  }
}

/** Types of events, for orders. */
export const types = (events: readonly NewEvent[]): readonly string[] => events.map((event) => event.type);

export const accepted = (turn = 1, text = `message ${turn}`): NewEvent => {
  const input = [{ type: 'text' as const, text }];
  return {
    type: 'turn.accepted',
    data: { turn, key: `key-${turn}`, fingerprint: digestOf(input), input, by: ANNA },
  };
};

const EMPTY = digestOf('');

export const built = (turn = 1, step = 1): NewEvent => ({
  type: 'request.built',
  data: { turn, step, parts: [], chain: EMPTY, frame: { head: EMPTY, tail: EMPTY }, bytes: 0 },
});

export type SaidCall = { readonly tool: string; readonly args?: string; readonly label?: string };

type ResponseData = Extract<NewEvent, { type: 'response.received' }>['data'];

/** A response with a text (unless it is empty) and calls. */
export const answered = (
  { text = '', calls = [], ...rest }: { text?: string; calls?: readonly SaidCall[] } & Partial<ResponseData>,
  [turn, step]: readonly [turn: number, step: number] = [1, 1],
): NewEvent => {
  const content: ResponseBlock[] = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ tool, args = '{}', label = 'label' }) => ({
      type: 'call' as const,
      label,
      name: tool,
      args,
    })),
  ];
  return {
    type: 'response.received',
    data: {
      turn,
      step,
      attempt: 1,
      stop: calls.length > 0 ? 'calls' : 'end',
      content,
      ms: 1,
      cost: 0,
      ...rest,
    },
  };
};

/** A session whose first response asks for these calls. */
export const asking = (calls: readonly SaidCall[], options: StoryOptions = {}): Story =>
  new Story(options).given(accepted(), built(), answered({ calls }));

type CallId = CallState['id'];
type OutcomeOf = Extract<NewEvent, { type: 'call.result' }>['data']['outcome'];

export const OK: OutcomeOf = { kind: 'ok', content: [{ type: 'text', text: 'fine' }] };
export const FAILED: OutcomeOf = { kind: 'failed', code: 'no-luck', message: 'It did not work.' };
export const RETRYABLE: OutcomeOf = { ...FAILED, retryable: true };
export const UNKNOWN: OutcomeOf = { kind: 'unknown', code: 'timeout', message: 'No word from it.' };

/** A preview, as a tool made it from what it is bound to. */
export const prepared = (call: CallId, title: string, base?: string): NewEvent => ({
  type: 'call.prepared',
  data: { call, preview: { title, blocks: [] }, ...(base !== undefined && { base }) },
});
/** A moment was reached: brings nothing but the time. */
export const timeReached: NewEvent = { type: 'time.reached', data: { due: 0 } };
export const modeChanged = (mode: Mode, scope: 'session' | 'store' = 'session'): NewEvent => ({
  type: 'mode.changed',
  data: { scope, mode, by: BEN, ...(scope === 'store' && { seq: 1 }) },
});
export const refusedCall = (call: CallId, code = 'no-such-file'): NewEvent => ({
  type: 'call.refused',
  data: { call, code, message: 'There is no such file.' },
});
export const started = (call: CallId, attempt = 1): NewEvent => ({
  type: 'call.started',
  data: { call, attempt },
});
export const result = (call: CallId, outcome: OutcomeOf, attempt = 1): NewEvent => ({
  type: 'call.result',
  data: { call, attempt, outcome, ms: 1 },
});
/** The attempt ends for want of these calls; the number names the arguments. */
export const suspended = (
  call: CallId,
  calls: readonly (readonly [tool: string, n: number])[],
  attempt = 1,
): NewEvent => ({
  type: 'call.suspended',
  data: { call, attempt, calls: calls.map(([tool, n]) => ({ tool, args: `{"n":${n}}` })), ms: 1 },
});
export const late = (call: CallId, outcome: OutcomeOf, attempt = 1): NewEvent => ({
  type: 'call.late',
  data: { call, attempt, outcome, ms: 1 },
});
export const lost: NewEvent = { type: 'driver.changed', data: { epoch: 2, reason: 'process-lost' } };
export const cancelAsked = (turn = 1): NewEvent => ({
  type: 'turn.cancel_requested',
  data: { turn, by: ANNA },
});
export const settled = (
  call: CallId,
  settlement: Extract<NewEvent, { type: 'call.settled' }>['data']['settlement'],
): NewEvent => ({ type: 'call.settled', data: { call, settlement, by: ANNA } });
export const reconciled = (
  call: CallId,
  answer: Extract<NewEvent, { type: 'call.reconciled' }>['data']['answer'],
): NewEvent => ({ type: 'call.reconciled', data: { call, attempt: 1, answer } });
export const failedRequest = (
  problem: Extract<NewEvent, { type: 'request.failed' }>['data']['problem'],
  attempt = 1,
): NewEvent => ({
  type: 'request.failed',
  data: { turn: 1, step: 1, attempt, problem, maybeBilled: false, ms: 1 },
});
