/** What a tool threw, as words: whatever it is, it has a code and a message, and nothing of it is lost. */
import type { EffectKind } from '../event/effect-kind.ts';
import type { Outcome } from '../event/content.ts';
import { ToolError } from '../tool/tool.ts';

const MESSAGE_LENGTH_MAX = 4000;
const DETAIL_LENGTH_MAX = 16_000;
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
  if (typeof thrown === 'string') return { code: 'tool-threw', message: cut(thrown, MESSAGE_LENGTH_MAX) };
  if (thrown === undefined || thrown === null)
    return { code: 'tool-threw', message: `The tool threw ${String(thrown)}.` };
  return {
    code: 'tool-threw',
    message: cut(`The tool threw ${plain(thrown)}.`, MESSAGE_LENGTH_MAX),
  };
};

const describeError = (error: Error): Described => {
  const code = (error as { code?: unknown }).code;
  const messages: string[] = [];
  let cause: unknown = error;
  for (let i = 0; cause instanceof Error && i < CAUSES_MAX; i++) {
    messages.push(String(cause.message) === '' ? String(cause.name) : String(cause.message));
    if (cause instanceof AggregateError)
      messages.push(...cause.errors.map((inner) => describeThrown(inner).message));
    ({ cause } = cause);
  }
  return {
    code: typeof code === 'string' && code !== '' ? code : 'tool-error',
    message: cut(messages[0] ?? error.name, MESSAGE_LENGTH_MAX) + aggregated(error, messages),
    detail: cut(
      [messages.slice(1).join('; '), String(error.stack ?? '')].filter(Boolean).join('\n'),
      DETAIL_LENGTH_MAX,
    ),
  };
};

const aggregated = (error: Error, messages: readonly string[]): string =>
  error instanceof AggregateError ? cut(`: ${messages.slice(1).join('; ')}`, MESSAGE_LENGTH_MAX) : '';

const plain = (value: object | number | boolean | bigint | symbol): string => {
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value) ?? Object.prototype.toString.call(value);
  } catch {
    return Object.prototype.toString.call(value);
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
