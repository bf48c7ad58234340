/**
 * One attempt of a call: the tool's own code, with a deadline and a signal. Always ends in one outcome; what the
 * tool does after its deadline is handed on as a late result, never lost and never a second outcome.
 */
import type { Clock } from '../clock.ts';
import type { Outcome } from '../event/content.ts';
import type { ToolDefinition } from '../event/definition.ts';
import type { ToolRequest } from '../event/events.ts';
import type { Blob } from '../log/store.ts';
import { isStandardSchema, type StandardIssue } from '../tool/schema.ts';
import { ToolError, type Tool, type ToolContext } from '../tool/tool.ts';
import { reach, type FaultPlace, type Faults } from './fault-point.ts';
import type { AttemptCalls } from './made-calls.ts';
import { encodeResult, type EncodedResult, type ResultLimits } from './result.ts';
import { thrownOutcome } from './thrown.ts';
import { CANCEL_GRACE_MS, watch } from './watch.ts';

/** It ended for want of calls that it makes. */
export type Suspended = { readonly calls: readonly ToolRequest[]; readonly ms: number };

export type Ended = {
  readonly outcome: Outcome;
  readonly blobs: readonly Blob[];
  readonly ms: number;
  /** The news of it comes twice; only a fault plan says so. */
  readonly twice?: boolean;
};

export type AttemptOptions = {
  readonly tool: Tool;
  readonly definition: ToolDefinition;
  readonly input: unknown;
  readonly context: ToolContext;
  readonly calls: AttemptCalls;
  readonly limits: ResultLimits;
  readonly clock: Clock;
  readonly abort: AbortController;
  readonly faults?: Faults | undefined;
  readonly place: () => FaultPlace;
  /** Called at most once, when the tool settles after its outcome was given. */
  readonly onLate: (ended: Ended) => void;
};

export const runAttempt = async (options: AttemptOptions): Promise<Ended | Suspended> => {
  const { clock, definition, abort, onLate } = options;
  const began = clock.monotonic();
  const elapsed = (): number => Math.max(0, Math.round(clock.monotonic() - began));
  const { promise, resolve, reject } = Promise.withResolvers<Ended | Suspended | GivenUp>();
  const work = execute(options).then((encoded) => ({ ...encoded, ms: elapsed() }));
  work.then(resolve, reject);
  const disarm = giveUp(options, resolve);
  const first = await promise;
  disarm();
  if ('ms' in first) return first;
  abort.abort(new Error(first.message));
  // That it would have been suspended says nothing: nobody goes on with it.
  void work.then((late) => ('outcome' in late ? onLate(late) : undefined));
  const { code, message } = first;
  const outcome: Outcome =
    definition.effect === 'none' && code === 'timeout'
      ? { kind: 'unknown', code, message: `${message} It only reads, so it may be tried again.` }
      : { kind: 'unknown', code, message };
  return { outcome, blobs: [], ms: elapsed() };
};

type Executed = (EncodedResult & Pick<Ended, 'twice'>) | Pick<Suspended, 'calls'>;

const execute = async (options: AttemptOptions): Promise<Executed> => {
  const { tool, definition, input, context, limits, faults, calls } = options;
  const place = (): FaultPlace => ({ ...options.place(), timeoutMs: definition.timeoutMs });
  try {
    if (faults) await reach(faults, 'call.before', place);
    const value: unknown = await executed(tool, input, context);
    const needed = calls.needed(value instanceof Thrown ? value.thrown : value);
    if (needed) {
      await reach(faults, 'call.after', place);
      return { calls: needed };
    }
    if (value instanceof Thrown) throw value.thrown;
    const made = encodeResult(value, definition.effect, limits);
    const encoded = made instanceof Promise ? await made : made;
    const answer = faults && (await reach(faults, 'call.after', place));
    return answer === 'again' ? { ...encoded, twice: true } : encoded;
  } catch (thrown) {
    return { outcome: thrownOutcome(thrown, definition.effect), blobs: [] };
  }
};

/** What a tool threw: it may be an error, or what its calls threw at it. */
class Thrown {
  readonly thrown: unknown;
  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

const executed = async (tool: Tool, input: unknown, context: ToolContext): Promise<unknown> => {
  try {
    // eslint-disable-next-line typescript/await-thenable -- a tool may return a plain value
    return await tool.execute(input as never, context);
  } catch (thrown) {
    return new Thrown(thrown);
  }
};

type GivenUp = { readonly code: 'timeout' | 'cancelled'; readonly message: string };

/** Tells when nobody waits for the tool any longer. Answers how to stop it. */
const giveUp = (
  { clock, definition, abort }: AttemptOptions,
  reached: (why: GivenUp) => void,
): (() => void) => {
  const { timeoutMs } = definition;
  return watch({
    clock,
    signal: abort.signal,
    timeoutMs,
    late: () => reached({ code: 'timeout', message: `The tool gave no result within ${timeoutMs} ms.` }),
    deaf: () => {
      const message = `The turn was cancelled; the tool did not confirm within ${CANCEL_GRACE_MS} ms that it stopped.`;
      reached({ code: 'cancelled', message });
    },
  });
};

export type Checked =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly message: string };

/**
 * The tool's own schema (Zod and the like) over decoded arguments. JSON Schema was checked when the call was
 * proposed; refinements and transforms are the tool's code and run here, before anything starts.
 */
export const checkInput = (tool: Tool, value: unknown): Checked | Promise<Checked> => {
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) return { ok: true, input: value };
  const verdict = (result: { value?: unknown; issues?: readonly StandardIssue[] | undefined }): Checked =>
    result.issues
      ? {
          ok: false,
          message: `The arguments of ${tool.name} cannot be used: ${result.issues.map(issueText).join('; ')}. Nothing was run.`,
        }
      : { ok: true, input: result.value };
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(verdict) : verdict(result);
};

const issueText = ({ path, message }: StandardIssue): string => {
  const keys = (path ?? []).map((key) => String(typeof key === 'object' ? key.key : key));
  return keys.length === 0 ? message : `/${keys.join('/')} ${message}`;
};

/** What a tool refuses before it starts (in its schema or its preview) is told to the model; nobody is asked. */
export const refusalOf = (thrown: unknown): { readonly code: string; readonly message: string } => {
  const outcome = thrownOutcome(thrown, 'none');
  const message = outcome.kind === 'failed' ? outcome.message : '';
  if (thrown instanceof ToolError) return { code: thrown.code, message };
  return { code: 'preview-failed', message: `The preview of this call failed: ${message}` };
};
