/**
 * THE TRIAL: the recorded inputs again, in order, with another agent. Requests go to its model; results come from
 * the record. Nothing is done in the world, unless `reads: 'run'` lets tools that only read run where the record
 * does not have their result.
 *
 * Approvals are answered as in the record for the same call. Where the record has none but has the result, the call
 * is approved, because nothing is done; otherwise it is a call that is not in the record.
 */
import { randomId, systemClock, systemRandom, type Clock } from '../clock.ts';
import { badInput, bug, isOnrecordError } from '../errors.ts';
import { makerOf, type CallId } from '../event/call-id.ts';
import type { AgentDefinition } from '../event/definition.ts';
import { open } from '../event/envelope.ts';
import type { ApprovalDecision, LogEvent } from '../event/events.ts';
import type { JsonObject } from '../event/json.ts';
import { contentText } from '../context/result-text.ts';
import { MemoryLog } from '../log/memory.ts';
import { sessionNotFound, type LogStore } from '../log/store.ts';
import type { Model } from '../model/model.ts';
import { findCall, toolOf } from '../session/state.ts';
import { needCalls } from '../tool/calls.ts';
import { TOOL_TIMEOUT_MS_MAX, ToolError, type Tool, type ToolContext } from '../tool/tool.ts';
import type { Preview } from '../tool/preview.ts';
import { defineAgent } from '../worker/agent.ts';
import { Runtime } from '../worker/runtime.ts';
import { compare, type Comparison } from './compare.ts';
import { keep } from './keep.ts';
import { callsIn, Repertoire } from './repertoire.ts';
import { hasResult, servedResult, servedTool } from './served-tool.ts';
import { Tracer, traceOf, type TracedCall } from './trace.ts';

/** Rounds of approvals in one turn; more means that the rehearsal does not come to rest. */
const ROUNDS_MAX = 10_000;
const KEY_LENGTH = 12;

/** What becomes of a call that is not in the record: the rehearsal ends, it gets a text that says so, or somebody is asked. */
export type Missing = 'stop' | 'stub' | 'ask';

export type AskedCall = Pick<TracedCall, 'id' | 'tool' | 'args'>;
/** What somebody says that a call comes to. */
export type AskedAnswer = { readonly do: 'result'; readonly text: string } | { readonly do: 'stub' | 'stop' };

/** Who is rehearsed with: the record's definition where nothing else is wanted, and the model that answers. */
export type RehearsalAgent = {
  readonly definition: AgentDefinition;
  readonly model: Model;
  /** Code of tools, for `reads: 'run'`. */
  readonly tools?: ReadonlyMap<string, Tool>;
};

export type RehearseOptions = {
  readonly store: LogStore;
  readonly session: string;
  readonly agent: RehearsalAgent;
  /** Default stop. */
  readonly missing?: Missing;
  readonly ask?: (call: AskedCall) => Promise<AskedAnswer>;
  /** Whether tools of effect kind `none` run where the record has no result of theirs. Default record: they do not. */
  readonly reads?: 'record' | 'run';
  /** Puts the rehearsal into the store as a session of its own, marked as what it is. Default false. */
  readonly keep?: boolean;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** Every event of the rehearsal as it comes. */
  readonly onEvent?: (event: LogEvent) => void;
};

/** Why a rehearsal ended before its last turn was over. */
export type Stopped = {
  readonly reason: 'not-in-record' | 'record-ends' | 'interrupted' | 'does-not-rest';
  readonly call?: AskedCall;
};

export type Rehearsal = Comparison & {
  /** The recorded session, and the last of its events that was looked at. */
  readonly session: string;
  readonly seq: number;
  /** Under this id it was kept. */
  readonly kept: string | undefined;
  readonly stopped: Stopped | undefined;
  /** Calls that got their result elsewhere: no record had it. */
  readonly stubbed: number;
  readonly asked: number;
  readonly ran: number;
  readonly events: readonly LogEvent[];
};

/** Throws `session-not-found`, `rehearsal-nothing-to-say`, and what reading the record throws. */
export const rehearse = async (options: RehearseOptions): Promise<Rehearsal> => {
  const { store, session } = options;
  const head = await store.head(session);
  if (!head) throw sessionNotFound(session);
  const recorded = (await store.read(session, 1, head.seq)).map(open);
  const stage = new Stage(options, recorded);
  try {
    const events = await stage.run({ session, ...head });
    const end = stage.stopped?.reason === 'record-ends' ? 'record' : 'both';
    const comparison = compare(traceOf(session, recorded), traceOf('', events), end);
    const kept = options.keep === true ? await keep(stage.log, store, stage.session) : undefined;
    return { ...comparison, ...stage.counts, session, seq: head.seq, kept, stopped: stage.stopped, events };
  } finally {
    await stage.close();
  }
};

class Stage {
  readonly log: MemoryLog = new MemoryLog();
  readonly counts = { stubbed: 0, asked: 0, ran: 0 };
  session = '';
  stopped: Stopped | undefined;
  readonly #options: RehearseOptions;
  readonly #recorded: ReturnType<typeof traceOf>;
  readonly #repertoire: Repertoire<TracedCall>;
  readonly #runtime: Runtime;
  readonly #tracer = new Tracer('');
  /** The recorded call that each call of the rehearsal is; undefined where there is none. */
  readonly #cast = new Map<CallId, TracedCall | undefined>();
  readonly #events: LogEvent[] = [];

  constructor(options: RehearseOptions, recorded: readonly LogEvent[]) {
    this.#options = options;
    this.#recorded = traceOf(options.session, recorded);
    this.#repertoire = new Repertoire(callsIn(this.#recorded));
    this.#runtime = new Runtime({
      store: this.log,
      agents: [this.#agent()],
      clock: options.clock ?? systemClock,
      drive: false,
      rehearsal: true,
    });
    this.log.changes(() => this.#look());
    const interrupted = (): void => void this.#stop({ reason: 'interrupted' });
    options.signal?.addEventListener('abort', interrupted, { once: true });
  }

  async run(of: {
    readonly session: string;
    readonly seq: number;
    readonly hash: LogHash;
  }): Promise<readonly LogEvent[]> {
    const [first] = this.#recorded.turns;
    if (!first)
      throw badInput(
        'rehearsal-nothing-to-say',
        `Session ${of.session} has no message that could be rehearsed.`,
        {
          session: of.session,
        },
      );
    const key = `rehearsal-${randomId(systemRandom, KEY_LENGTH)}`;
    for (const { turn, input } of this.#recorded.turns) {
      if (this.stopped) break;
      const message = contentText(input);
      const sent = await this.#runtime.send(
        turn === 1
          ? { agent: this.#options.agent.definition.name, message, key, rehearsal: of }
          : { session: this.session, message, key: `${key}-${turn}` },
      );
      this.session = sent.session;
      await this.#settle();
    }
    this.#look();
    return this.#events;
  }

  async close(): Promise<void> {
    await this.#runtime.close({ drainMs: 0 });
  }

  /** Lets a turn come to its end, and answers what it asks. */
  async #settle(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const { approvals, inDoubt } = await this.#runtime.rest(this.session);
      if (inDoubt.length > 0) return this.#stop({ reason: 'does-not-rest' });
      if (approvals.length === 0) return;
      for (const id of approvals) await this.#approve(id as CallId);
    }
    await this.#stop({ reason: 'does-not-rest' });
  }

  async #approve(id: CallId): Promise<void> {
    if (this.stopped) return;
    const { decision, closing } = this.#recordedOf(id) ?? {};
    const answer: ApprovalDecision | undefined =
      decision ?? (hasResult(closing) ? { do: 'approve' } : await this.#unrecorded(id));
    const digest = findCall(this.#tracer.state, id)?.digest;
    if (!answer || digest === undefined) return;
    const decided = this.#runtime.decide({ session: this.session, call: id, digest, decision: answer });
    // Arguments that a person wrote for another schema.
    if (!(await this.#unlessRefused(decided, 'arguments-invalid'))) await this.#stop(this.#stopAt(id));
  }

  /** False where it was refused for this reason. */
  async #unlessRefused(work: Promise<unknown>, code: string): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      if (!isOnrecordError(error) || error.code !== code) throw error;
      return false;
    }
  }

  /** Nobody has answered this call in the record, and it has no result there. */
  async #unrecorded(id: CallId): Promise<ApprovalDecision | undefined> {
    const { missing = 'stop' } = this.#options;
    if (missing !== 'stop' && !this.#isOpenInRecord(id)) return { do: 'approve' };
    await this.#stop(this.#stopAt(id));
    return undefined;
  }

  /** Where the record itself has not come further, it is not the rehearsal that does otherwise. */
  #stopAt(id: CallId): Stopped {
    return { reason: this.#isOpenInRecord(id) ? 'record-ends' : 'not-in-record', call: this.#asked(id) };
  }

  #isOpenInRecord(id: CallId): boolean {
    const recorded = this.#recordedOf(id);
    return recorded !== undefined && recorded.closing === undefined;
  }

  /** Cancels what runs: the rehearsal's log stays one that a session can have. */
  async #stop(stopped: Stopped): Promise<void> {
    if (this.stopped) return;
    this.stopped = stopped;
    if (this.session === '') return;
    const reason = `rehearsal stopped: ${stopped.reason}`;
    await this.#unlessRefused(this.#runtime.cancel(this.session, { reason }), 'nothing-to-cancel');
  }

  /** The record's definition with tools that are served. */
  #agent(): ReturnType<typeof defineAgent> {
    const { agent, missing } = this.#options;
    const { name, instructions, policy, limits, tools } = agent.definition;
    return defineAgent({
      name,
      instructions,
      policy,
      limits,
      model: agent.model,
      // Where somebody is asked, the answer takes as long as it takes.
      tools: tools.map((definition) =>
        servedTool(missing === 'ask' ? { ...definition, timeoutMs: TOOL_TIMEOUT_MS_MAX } : definition, {
          preview: async (call) => this.#preview(idIn(call)),
          execute: (input, context) => this.#execute(input, context),
        }),
      ),
    });
  }

  #preview(id: CallId): Preview | undefined {
    const call = this.#recordedOf(id);
    // What its own preview refused in the record, it refuses here.
    if (call?.closing?.kind === 'rejected')
      throw new ToolError(call.closing.message, { code: call.closing.reason });
    return call?.preview as Preview | undefined;
  }

  async #execute(input: unknown, context: ToolContext): Promise<unknown> {
    const id = idIn(context.call);
    const recorded = this.#recordedOf(id);
    // The calls that it made are judged again, and served in their turn.
    const made = recorded ? this.#madeBy(recorded.id) : [];
    const next = made[context.made.length];
    if (next) return needCalls({ tool: next.tool, args: JSON.parse(next.args) as JsonObject });
    // Given other answers than in the record, nobody knows what it would have done.
    const told = made.every(({ closing }, i) => isAnswer(closing) === 'result' in (context.made[i] ?? {}));
    if (recorded && told && hasResult(recorded.closing))
      return servedResult(recorded.closing, (digest) => this.#options.store.blob(digest));
    const { tool: name } = this.#asked(id);
    const code = this.#options.agent.tools?.get(name);
    if (this.#options.reads === 'run' && code?.effect === 'none') {
      this.counts.ran++;
      return code.execute(input as never, context);
    }
    return this.#missing(id);
  }

  /** The calls that a recorded call made, in order. */
  #madeBy(maker: CallId): readonly TracedCall[] {
    return this.#recorded.turns
      .flatMap(({ steps }) => steps.flatMap(({ inner }) => inner))
      .filter(({ id }) => makerOf(id) === maker);
  }

  async #missing(id: CallId): Promise<unknown> {
    const { missing = 'stop', ask } = this.#options;
    const answer: AskedAnswer =
      missing === 'ask' && ask
        ? await this.#ask(ask, this.#asked(id))
        : { do: missing === 'stub' ? 'stub' : 'stop' };
    switch (answer.do) {
      case 'result':
        return answer.text;
      case 'stub':
        this.counts.stubbed++;
        return 'This is a rehearsal. The call is not in the record and was not run; go on as if it had succeeded.';
      case 'stop':
        await this.#stop(this.#stopAt(id));
        throw new ToolError('The rehearsal ends here: this call is not in the record.', {
          code: 'not-in-record',
        });
      default:
        return answer satisfies never;
    }
  }

  async #ask(ask: NonNullable<RehearseOptions['ask']>, call: AskedCall): Promise<AskedAnswer> {
    this.counts.asked++;
    return ask(call);
  }

  #recordedOf(id: CallId): TracedCall | undefined {
    this.#look();
    return this.#cast.get(id);
  }

  #asked(id: CallId): AskedCall {
    const call = this.#tracer.call(id);
    if (!call) throw bug('a call that is run was proposed', { call: id });
    return { id, tool: call.tool, args: call.args };
  }

  /** Reads on. Every proposed call is given its place in the record in the order of the log, whatever runs first. */
  #look(): void {
    for (const stored of this.log.peek(this.session).slice(this.#events.length)) {
      const event = open(stored);
      this.#events.push(event);
      this.#tracer.push(event);
      if (event.type === 'call.proposed') this.#castCall(event.data.call);
      this.#options.onEvent?.(event);
    }
  }

  #castCall(id: CallId): void {
    const call = this.#tracer.call(id);
    if (!call || this.#cast.has(id)) return;
    const { effect = 'once' } = toolOf(this.#tracer.state.agent, call.tool) ?? {};
    this.#cast.set(id, this.#repertoire.take(call, effect));
  }
}

/** Whether its maker was given a result, and not an error. */
const isAnswer = (closing: TracedCall['closing']): boolean =>
  closing?.kind === 'ok' || closing?.kind === 'responded';

type LogHash = NonNullable<Awaited<ReturnType<LogStore['head']>>>['hash'];

/** "s_... 1.2.3" */
const idIn = (call: ToolContext['call']): CallId => (call.split(' ')[1] ?? '') as CallId;
