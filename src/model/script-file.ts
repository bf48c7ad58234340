/** Scripts written as YAML 1.2. Kept apart from the scripted model, which needs neither parser nor schema. */
import { LineCounter, parseDocument, visit, type Document } from 'yaml';
import { z } from 'zod';
import { badInput } from '../errors.ts';
import { isExactNumber } from '../event/strict.ts';
import type { Script } from './script.ts';

const SCRIPT_LENGTH_MAX: number = 1024 * 1024;
const REPEAT_MAX = 100_000;

const count = z.number().int().min(0);

const FAILURES = [
  'rate-limited',
  'overloaded',
  'unavailable',
  'interrupted',
  'timeout',
  'bad-response',
  'bad-request',
  'authentication',
  'no-balance',
  'context-overflow',
] as const;

const STOPS = [
  'end',
  'calls',
  'length',
  'stop-sequence',
  'paused',
  'refusal',
  'context-overflow',
  'unknown',
] as const;

const reply = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  calls: z
    .array(
      z.strictObject({
        tool: z.string(),
        args: z.record(z.string(), z.json()).optional(),
        argsRaw: z.string().optional(),
        id: z.string().optional(),
      }),
    )
    .optional(),
  stop: z.enum(STOPS).optional(),
  stopDetail: z.string().optional(),
  usage: z
    .strictObject({ cacheRead: count.default(0), cacheWrite: count.default(0), input: count, output: count })
    .optional(),
  cost: z.number().min(0).optional(),
  error: z
    .strictObject({
      kind: z.enum(FAILURES),
      message: z.string().optional(),
      status: z.number().int().optional(),
      retryAfterMs: count.optional(),
      maybeBilled: z.boolean().optional(),
    })
    .optional(),
  delayMs: count.optional(),
  stream: z.strictObject({ pieces: z.number().int().min(1), everyMs: count }).optional(),
  expects: z.string().optional(),
});

const step = reply.extend({
  repeat: z.number().int().min(1).max(REPEAT_MAX).optional(),
  choose: z.array(reply.extend({ when: z.string().optional() })).optional(),
});

/** The steps of a script, as a schema: for files that hold one. */
export const scriptSteps: z.ZodType = z.array(step);

const schema = z.strictObject({ name: z.string().default('script'), steps: scriptSteps });

/** Reads a script. Throws `script-invalid` with line and column. */
export const readScript = (text: string, where: string): Script => {
  if (text.length > SCRIPT_LENGTH_MAX)
    throw badInput(
      'script-invalid',
      `${where} has ${text.length} characters, the limit is ${SCRIPT_LENGTH_MAX}.`,
    );
  const lines = new LineCounter();
  // CRLF would turn line ends inside block texts into spaces.
  const document = parseDocument(text.replaceAll('\r\n', '\n'), { uniqueKeys: true, lineCounter: lines });
  const problem = document.errors[0];
  if (problem) throw invalid(where, problem.linePos?.[0], problem.message.split('\n', 1)[0] ?? '');
  visit(document, {
    Scalar: (_, { value, source = '', range }) => {
      if (typeof value !== 'number' || isExactNumber(source, value)) return;
      const what = `the number ${source} cannot be held exactly; give the arguments as text, in argsRaw`;
      throw invalid(where, range ? lines.linePos(range[0]) : undefined, what);
    },
  });
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 0 }));
  // Zod types an optional member as possibly undefined; parsed JSON never holds an undefined one.
  if (parsed.success) return parsed.data as Script;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  throw invalid(
    where,
    position(document, lines, path),
    `${path.join('.')}: ${issue?.message ?? 'not a script'}`,
  );
};

type Position = { readonly line: number; readonly col: number };

const position = (
  document: Document,
  lines: LineCounter,
  path: readonly PropertyKey[],
): Position | undefined => {
  const node: unknown = document.getIn(path, true);
  const start = (node as { range?: readonly [number, number, number] } | undefined)?.range?.[0];
  return start === undefined ? undefined : lines.linePos(start);
};

const invalid = (where: string, at: Position | undefined, what: string): Error =>
  badInput(
    'script-invalid',
    `${where}${at ? `:${at.line}:${at.col}` : ''}: ${what}. A script is { name, steps: [ { text, calls, ... } ] }.`,
    { where },
  );
