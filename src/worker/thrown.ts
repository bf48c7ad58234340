/** What a tool threw, as words: whatever it is, it has a code and a message, and nothing of it is lost. */
import type { EffectKind } from '../event/effect-kind.ts';
import type { Outcome } from '../event/content.ts';
import { ToolError } from '../tool/tool.ts';
import { NotSerializable, resultJson } from './result-json.ts';

const MESSAGE_LENGTH_MAX = 4000;
const DETAIL_LENGTH_MAX = 16_000;
const CODE_LENGTH_MAX = 100;
/** Causes that are followed before the rest is left out. */
const CAUSES_MAX = 5;

export type Described = { readonly code: string; readonly message: string; readonly detail?: string };

export const describeThrown = (thrown: unknown): Described => {
  try {
    return describe(thrown);
  } catch {
    // A proxy or a getter of the tool's throws when it is looked at.
    return { code: 'tool-threw', message: 'The tool threw something that cannot be read.' };
  }
};

const describe = (thrown: unknown): Described => {
  if (thrown instanceof Error) return describeError(thrown);
  const said = typeof thrown === 'string' ? thrown : `The tool threw ${plain(withoutStack(thrown))}.`;
  const stack = typeof thrown === 'string' ? thrown : stackOf(thrown);
  const message = cut(withoutFrames(said), MESSAGE_LENGTH_MAX);
  const traced = stack !== undefined && withoutFrames(stack) !== stack;
  return {
    code: codeOf(thrown) ?? 'tool-threw',
    message,
    ...(traced && { detail: cut(stack, DETAIL_LENGTH_MAX) }),
  };
};

/** Where in its code a tool failed is for those who wrote it, in the record, and not for the model. */
const withoutFrames = (text: string): string => text.replaceAll(FRAME, '');

/** A line of a stack trace, as V8 writes it. */
const FRAME = /\n[ \t]+at [^\n]*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))(?=\n|$)/g;

/** An error that came through JSON is an object with its members. */
const stackOf = (thrown: unknown): string | undefined => {
  const stack: unknown = (thrown as { readonly stack?: unknown } | null | undefined)?.stack;
  return typeof stack === 'string' ? stack : undefined;
};

const withoutStack = (thrown: unknown): unknown => {
  if (typeof thrown !== 'object' || thrown === null || stackOf(thrown) === undefined) return thrown;
  return Object.fromEntries(Object.entries(thrown).filter(([key]) => key !== 'stack'));
};

const describeError = (error: Error): Described => {
  const messages: string[] = [];
  let cause: unknown = error;
  for (let i = 0; cause !== undefined && i < CAUSES_MAX; i++) {
    messages.push(wordsOf(cause));
    if (cause instanceof AggregateError)
      messages.push(...cause.errors.map((inner) => describeThrown(inner).message));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return {
    code: codeOf(error) ?? 'tool-error',
    message: withoutFrames(cut(messages[0] ?? error.name, MESSAGE_LENGTH_MAX) + aggregated(error, messages)),
    detail: cut(
      [messages.slice(1).join('; '), String(error.stack ?? '')].filter(Boolean).join('\n'),
      DETAIL_LENGTH_MAX,
    ),
  };
};

/** A cause may be anything, and so may a message that was put in later. */
const wordsOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : plain(cause);
  const message: unknown = cause.message;
  if (message === '' || message === undefined) return String(cause.name);
  return typeof message === 'string' ? message : plain(message);
};

/** Node and most services say in `code` what happened; numbers are the codes of databases. */
const codeOf = (thrown: unknown): string | undefined => {
  const code: unknown = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  if (typeof code === 'number' && Number.isFinite(code)) return String(code);
  return typeof code === 'string' && code !== '' ? code.slice(0, CODE_LENGTH_MAX).toWellFormed() : undefined;
};

const aggregated = (error: Error, messages: readonly string[]): string =>
  error instanceof AggregateError ? cut(`: ${messages.slice(1).join('; ')}`, MESSAGE_LENGTH_MAX) : '';

const plain = (value: unknown): string => {
  if (typeof value === 'function') return `the function ${value.name === '' ? 'without a name' : value.name}`;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return resultJson(value);
  } catch (error) {
    // What of it can be written, beside what cannot.
    const kept = Object.entries(value).flatMap(([key, member]) => {
      try {
        return [`${key}: ${resultJson(member)}`];
      } catch {
        return [];
      }
    });
    const why =
      error instanceof NotSerializable
        ? error.message.replace('the result', 'which')
        : 'which cannot be read';
    return `an object (${kept.join(', ')}), ${why}`;
  }
};

const cut = (text: string, length: number): string => {
  const whole = text.toWellFormed();
  return whole.length <= length
    ? whole
    : `${whole.slice(0, length).toWellFormed()}… (${whole.length} characters)`;
};

/**
 * An attempt that threw. A ToolError says itself whether something happened; anything else thrown by a tool with
 * an effect proves nothing, and so leaves the call in doubt.
 */
export const thrownOutcome = (thrown: unknown, effect: EffectKind): Outcome => {
  const { code, message, detail } = describeThrown(thrown);
  const kept = detail === undefined || detail === '' ? {} : { detail };
  if (isToolError(thrown) && thrown.happened === false)
    return { kind: 'failed', code, message, ...(thrown.retryable && { retryable: true }) };
  if (effect === 'none') return { kind: 'failed', code, message, ...kept };
  return { kind: 'unknown', code, message, ...kept };
};

/** `instanceof` itself throws on a revoked proxy. */
const isToolError = (thrown: unknown): thrown is ToolError => {
  try {
    return thrown instanceof ToolError;
  } catch {
    return false;
  }
};
