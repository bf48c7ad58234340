/** What the model gives run_javascript, and the job that it means. */
import { z } from 'zod';
import { canonicalStrict, type StrictValue } from '../../event/strict.ts';
import type { RoomJob } from '../../room/job.ts';
import { ToolError } from '../tool.ts';

type GivenFile = {
  readonly name: string;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
};

export type JavascriptInput = {
  readonly code: string;
  readonly input?: unknown;
  readonly files?: readonly GivenFile[] | undefined;
  readonly tools?: readonly string[] | undefined;
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
  tools: z.array(z.string()).optional().describe('Tools that the program may call, by name.'),
});

const refuse = (message: string): never => {
  throw new ToolError(message, { code: 'program-refused' });
};

const jsonText = (value: unknown): string =>
  value === undefined ? 'null' : canonicalStrict(value as StrictValue);

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

export type Program = Pick<RoomJob, 'code' | 'input' | 'files' | 'tools'>;

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
  };
};
