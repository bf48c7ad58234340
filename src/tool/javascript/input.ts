/** What the model gives run_javascript, and the job that it means. */
import { z } from 'zod';
import { canonicalStrict, type StrictValue } from '../../event/strict.ts';
import type { RoomJob, ToolAnswer } from '../../room/job.ts';
import { ToolError } from '../tool.ts';

type GivenFile = {
  readonly name: string;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
};

type GivenAnswer = {
  readonly tool: string;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly error?: string | undefined;
};

export type JavascriptInput = {
  readonly code: string;
  readonly input?: unknown;
  readonly files?: readonly GivenFile[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly resume?:
    | { readonly clockMs: number; readonly seed: string; readonly answers: readonly GivenAnswer[] }
    | undefined;
};

export const javascriptInput: z.ZodType<JavascriptInput> = z.strictObject({
  code: z.string().describe('The body of an async function. What it returns is the result.'),
  input: z.unknown().optional().describe('Any JSON; the program has it as `input`.'),
  files: z
    .array(
      z.strictObject({
        name: z.string().describe('1 to 64 of A-Z a-z 0-9 . _ -, not beginning with a dot.'),
        text: z.string().optional(),
        base64: z.string().optional(),
      }),
    )
    .optional()
    .describe('Files for the program; each with text or base64.'),
  tools: z.array(z.string()).optional().describe('Tools that the program calls, by name.'),
  resume: z
    .strictObject({
      clockMs: z.number(),
      seed: z.string(),
      answers: z.array(
        z.strictObject({
          tool: z.string(),
          args: z.unknown().describe('The arguments exactly as the program gave them.'),
          result: z.unknown().optional().describe('What the tool gave.'),
          error: z.string().optional().describe('Instead of a result: the call failed with this.'),
        }),
      ),
    })
    .optional()
    .describe(
      'Only to go on with a paused program: what its result said, with an answer for each of its calls.',
    ),
});

const refuse = (message: string): never => {
  throw new ToolError(message, { code: 'program-refused' });
};

const jsonText = (value: unknown): string =>
  value === undefined ? 'null' : canonicalStrict(value as StrictValue);

const answersOf = ({ resume }: JavascriptInput): readonly ToolAnswer[] =>
  (resume?.answers ?? []).map(({ tool, args, result, error }) => ({
    tool,
    args: jsonText(args),
    ...(error === undefined ? { result: jsonText(result) } : { error }),
  }));

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const bytesOf = ({ name, text, base64 }: GivenFile): Uint8Array => {
  if ((text === undefined) === (base64 === undefined))
    refuse(`The file "${name}" needs either text or base64.`);
  if (text !== undefined) return Buffer.from(text);
  if (!BASE64.test(base64 ?? '')) refuse(`The base64 of the file "${name}" is none.`);
  return Buffer.from(base64 ?? '', 'base64');
};

const filesOf = ({ files = [] }: JavascriptInput): ReadonlyMap<string, Uint8Array> => {
  const byName = new Map<string, Uint8Array>();
  for (const given of files) {
    if (byName.has(given.name)) refuse(`Two files are called "${given.name}".`);
    byName.set(given.name, bytesOf(given));
  }
  return byName;
};

export type Program = Pick<RoomJob, 'code' | 'input' | 'files' | 'tools' | 'answers'>;

/** Throws `program-refused` for what no room can run. */
export const programOf = (given: JavascriptInput, callable: readonly string[]): Program => {
  const tools = given.tools ?? [];
  for (const name of tools)
    if (!callable.includes(name))
      refuse(`A program cannot call "${name}". It can call: ${callable.join(', ') || 'no tool'}.`);
  return {
    code: given.code,
    input: jsonText(given.input),
    files: filesOf(given),
    tools,
    answers: answersOf(given),
  };
};
