/** What tests of tool servers share: a call as the runtime makes it, and what came of it. */
import { ToolError, type Tool, type ToolContext } from '../../src/tool/tool.ts';
import type { ToolContent } from '../../src/tool/content.ts';
import type { ToolServer } from '../../src/tool/mcp/tools.ts';
import type { SocketWorld } from '../kit/mcp-world.ts';

let calls = 0;
export const contextOf = (more: Partial<ToolContext> = {}): ToolContext => ({
  signal: new AbortController().signal,
  idempotencyKey: 'key-1',
  attempt: 1,
  call: `s_TEST 1.1.${++calls}`,
  log: { info: () => undefined, warn: () => undefined },
  now: () => 0,
  startedAt: 0,
  made: [],
  callTool: () => {
    throw new Error('no call makes a call here');
  },
  base: undefined,
  ...more,
});

export const named = ({ tools }: ToolServer, name: string): Tool => {
  const found = tools.find((one) => one.name === name);
  if (!found) throw new Error(`no ${name} in ${tools.map((one) => one.name).join(', ')}`);
  return found;
};

/** Looks first and then runs, as the runtime does. */
export const run = async (
  one: Tool,
  input: unknown = {},
  context: ToolContext = contextOf(),
): Promise<ToolContent> => {
  await one.preview?.(input as never, context);
  return (await one.execute(input as never, context)) as ToolContent;
};

export const refusal = async (work: Promise<unknown>): Promise<ToolError> => {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ToolError)) throw new Error(`not refused: ${String(thrown)}`);
  return thrown;
};

export const textOf = ({ parts }: ToolContent): string =>
  parts.map((part) => (part.kind === 'text' || part.kind === 'json-text' ? part.text : part.kind)).join('\n');
/** Answers requests of a method with a result as text. */
export const rawly =
  (method: string, result: string): SocketWorld['before'] =>
  (_request, response, body) => {
    if (!body.includes(JSON.stringify(method))) return false;
    const { id } = JSON.parse(body) as { readonly id: number };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    return true;
  };
