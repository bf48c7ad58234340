/**
 * tool(): what a user writes to give an agent a hand. Everything but `execute`, `preview` and `reconcile`
 * is data and goes into the session's record with a digest.
 */
import type { Json, JsonObject } from '../event/json.ts';
import { badInput } from '../errors.ts';
import type { ServerOrigin } from '../event/definition.ts';
import type { EffectKind } from '../event/effect-kind.ts';
import { EFFECT_KINDS } from '../event/effect-kind.ts';
import type { MadeCall } from './calls.ts';
import type { Preview } from './preview.ts';
import type { InputSchema, StandardSchema } from './schema.ts';

export type Logger = {
  /** A line for the operator, kept out of the conversation. Never put a secret in it. */
  info(message: string, data?: JsonObject): void;
  warn(message: string, data?: JsonObject): void;
};

/** What every callback of a tool is given. */
export type ToolContext = {
  /** Aborted on cancel, timeout and shutdown. Stop as soon as it is safe to stop. */
  readonly signal: AbortSignal;
  /**
   * The same for every attempt of this call, on every machine: pass it to the service as its
   * Idempotency-Key, or keep it in the same transaction as your own data.
   */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Session and position of the call, for logs: "s_7Q2N8B 3.7.2". */
  readonly call: string;
  readonly log: Logger;
  /** Milliseconds since 1970 UTC, from the runtime's clock. Use this, not Date.now(). */
  readonly now: () => number;
  /** The `base` of the preview that was shown or recorded before the start; undefined where none was made. */
  readonly base: Json | undefined;
  /**
   * When the first attempt of this call was started, milliseconds since 1970 UTC: the same for all of them. What has
   * to come out the same when it is run again takes its time from here.
   */
  readonly startedAt: number;
  /** The calls that this call made in its earlier attempts, in order, with what came of them. */
  readonly made: readonly MadeCall[];
  /**
   * Makes a call of another tool, which `calls` of this tool has to name, and gives what it returned. It is an event of
   * the session like any call: policy, questions, keys. Where its result is not there yet, this throws, and `execute`
   * is called again once it is: so everything before it has to come out the same. Let what it throws pass. A call that
   * failed or was not run throws a ToolError with the code `inner-call-failed`, which may be caught.
   */
  readonly callTool: (tool: string, args: JsonObject) => unknown;
};

/** What `reconcile` found out about a call that was started and left no result. */
export type Reconciled =
  /** It happened. `result` is what the call would have returned. */
  | { readonly happened: true; readonly result: unknown }
  /** It did not happen and will not happen any more: safe to run. */
  | { readonly happened: false }
  /** The world does not say. A person has to settle the call. */
  | { readonly happened: 'unknown'; readonly note: string };

export type RetryPolicy = {
  /** All attempts, the first included; 1 to 10. */
  readonly attempts: number;
  /** The wait before attempt 2 in milliseconds; doubled for each further one, with jitter, up to `maxMs`. */
  readonly baseMs?: number;
  readonly maxMs?: number;
};

export type Approval = 'policy' | 'always' | 'never';

export type OutputLabels = {
  /** The result is text that strangers can write: web pages, mail bodies, files from outside. */
  readonly untrusted?: boolean;
  /** The result is nobody else's business: mail, calendar, customer files. */
  readonly private?: boolean;
};

export type ToolOptions<Input> = {
  /** 1 to 64 of a-z A-Z 0-9 _ - . ; unique in its agent. */
  readonly name: string;
  readonly description: string;
  /**
   * JSON Schema, or a schema of Zod and the like. Where one fills in defaults or transforms, a person who is asked is
   * shown what the tool takes, and a yes is to that.
   */
  readonly inputSchema: InputSchema<Input>;
  /**
   * What the tool does to the world. `none`: nothing (run again freely). `idempotent`: running again with the
   * same key changes nothing more. `reconcilable`: `reconcile` can ask the world. `once`: never run again by
   * itself. Default `once`.
   */
  readonly effect?: EffectKind;
  /** Whether a person is asked: `policy` lets the agent's policy decide (the default). */
  readonly approval?: Approval;
  /** Milliseconds one attempt may take. Default 60,000. */
  readonly timeoutMs?: number;
  /** Attempts after a failure that is known to have had no effect and is declared retryable. Default 1 attempt. */
  readonly retry?: RetryPolicy;
  readonly labels?: OutputLabels;
  /**
   * Whether something can leave through the arguments: a mail, a request to a server. Policy can ask for a person
   * where that meets untrusted or private text. Default: true for a tool with an effect, false for one without.
   */
  readonly egress?: boolean;
  /**
   * Names of the agent's tools that a call of this one may make calls of. Only with effect `none`, because such a call is
   * run again from the start after each of them; and of none that makes calls itself.
   */
  readonly calls?: readonly string[];
  /** What bounds the programs that it runs, for example "gvisor". Part of what a session records of the tool. */
  readonly level?: string;
  /** The same tool at other levels, for sessions that began with one of them. */
  readonly atOtherLevels?: readonly Tool[];
  /**
   * Shows the consequence of the exact arguments; must change nothing. Throw a ToolError for arguments that
   * can never run (the model is told, nobody is asked).
   */
  readonly preview?: (input: Input, context: ToolContext) => Promise<Preview> | Preview;
  readonly reconcile?: (input: Input, context: ToolContext) => Promise<Reconciled> | Reconciled;
  /**
   * Does it. The return value may be anything: text, JSON, bytes. Throw a ToolError for a failure that you
   * know had no effect; any other error of a tool with an effect leaves the call in doubt.
   */
  readonly execute: (input: Input, context: ToolContext) => unknown;
};

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject | StandardSchema;
  readonly effect: EffectKind;
  readonly approval: Approval;
  readonly timeoutMs: number;
  readonly retry: Required<RetryPolicy>;
  readonly labels: Required<OutputLabels>;
  readonly egress: boolean;
  /** Undefined: it makes no calls. */
  readonly calls: readonly string[] | undefined;
  readonly level: string | undefined;
  readonly atOtherLevels: readonly Tool[];
  readonly preview: ((input: never, context: ToolContext) => Promise<Preview> | Preview) | undefined;
  readonly reconcile: ((input: never, context: ToolContext) => Promise<Reconciled> | Reconciled) | undefined;
  readonly execute: (input: never, context: ToolContext) => unknown;
  /** Where a tool server offers it. */
  readonly server?: ServerOrigin;
};

export const TOOL_TIMEOUT_MS = 60_000;
export const TOOL_TIMEOUT_MS_MAX: number = 24 * 60 * 60 * 1000;
export const TOOL_ATTEMPTS_MAX = 10;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Defines a tool. Throws `tool-invalid` where a value is out of range. */
export function tool<Input>(options: ToolOptions<Input>): Tool {
  const { name, retry } = options;
  const fail = (what: string): never => {
    throw badInput('tool-invalid', `Tool "${String(name)}": ${what}.`, { tool: String(name) });
  };
  if (typeof name !== 'string' || !NAME.test(name))
    fail(
      'the name must be 1 to 64 characters of a-z, A-Z, 0-9, "_", "-" and ".", not starting with "-" or "."',
    );
  if (typeof options.execute !== 'function') fail('execute must be a function');
  const effect = options.effect ?? 'once';
  if (!EFFECT_KINDS.includes(effect))
    fail(`effect "${String(effect)}" is none of ${EFFECT_KINDS.join(', ')}`);
  if (effect === 'reconcilable' && !options.reconcile)
    fail('effect "reconcilable" needs a reconcile function; without one the effect is "once"');
  const timeoutMs = options.timeoutMs ?? TOOL_TIMEOUT_MS;
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TOOL_TIMEOUT_MS_MAX)
    fail(`timeoutMs ${timeoutMs} must be a whole number from 1 to ${TOOL_TIMEOUT_MS_MAX}`);
  const attempts = retry?.attempts ?? 1;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > TOOL_ATTEMPTS_MAX)
    fail(`retry.attempts ${attempts} must be a whole number from 1 to ${TOOL_ATTEMPTS_MAX}`);
  const { calls } = options;
  if (calls?.includes(name)) fail('it cannot make calls of itself');
  if (calls && effect !== 'none')
    fail(
      `a tool that makes calls is run again after each of them, so its effect must be "none", not "${effect}"; what it does it does by its calls`,
    );
  return Object.freeze({
    name,
    description: options.description,
    inputSchema: options.inputSchema,
    effect,
    approval: options.approval ?? 'policy',
    timeoutMs,
    retry: { attempts, baseMs: retry?.baseMs ?? RETRY_BASE_MS, maxMs: retry?.maxMs ?? RETRY_MAX_MS },
    labels: { untrusted: options.labels?.untrusted ?? false, private: options.labels?.private ?? false },
    egress: options.egress ?? effect !== 'none',
    level: options.level,
    atOtherLevels: options.atOtherLevels ?? [],
    calls: calls && calls.length > 0 ? Object.freeze([...calls]) : undefined,
    preview: options.preview,
    reconcile: options.reconcile,
    execute: options.execute,
  });
}

/**
 * An expected failure: the tool knows that nothing happened (`happened: false`, the default), or that it
 * cannot know (`'unknown'`). The message goes to the model; keep paths and stack traces out of it.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Stable, kebab-case: "address-blocked", "file-changed". */
  readonly code: string;
  readonly happened: false | 'unknown';
  /** Whether another attempt may succeed. Only meaningful when nothing happened. */
  readonly retryable: boolean;
  readonly details: JsonObject;

  constructor(
    message: string,
    options: {
      code: string;
      happened?: false | 'unknown';
      retryable?: boolean;
      details?: JsonObject;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.happened = options.happened ?? false;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }
}
