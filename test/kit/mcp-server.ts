/**
 * A tool server made with the SDK's own server: what it lists and answers stands in a plan that a test may change while
 * it runs. Run as a program it speaks over standard input and output; it writes every call that it takes to a file.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

/** What a tool does when it is called. */
export type ServerAct =
  /** This JSON text, digit for digit. */
  | { readonly answers: string }
  /** Repeats what it was given. */
  | { readonly echoes: 'arguments' | 'environment' | 'headers' | 'meta' }
  /** Takes the call, and then its process is gone. */
  | { readonly dies: true }
  /** Takes the call and never answers. */
  | { readonly hangs: true }
  | { readonly refuses: number };

export type ServerPlan = {
  readonly name: string;
  /** Definitions as JSON text. */
  readonly tools: readonly string[];
  readonly acts: Readonly<Record<string, ServerAct>>;
  /** Tools on one page of the list. */
  readonly page?: number;
};

export type Taken = { readonly tool: string; readonly args: string };

/** A value that JSON.stringify writes with all the digits of this text. */
const exact = (text: string): unknown => {
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value,
  );
};

const text = (value: unknown): never =>
  ({ content: [{ type: 'text', text: JSON.stringify(value) }] }) as never;

type Hooks = {
  readonly plan: () => ServerPlan;
  readonly taken: (call: Taken) => void;
  readonly headers?: () => unknown;
};

export const sdkServer = ({ plan, taken, headers }: Hooks): Server => {
  const server = new Server(
    { name: plan().name, version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const { tools, page = tools.length } = plan();
    const from = Number(params?.cursor ?? 0);
    const rest = from + page < tools.length ? { nextCursor: String(from + page) } : {};
    return { tools: tools.slice(from, from + page).map(exact), ...rest };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { name, arguments: args = {}, _meta: meta = {} } = params;
    taken({ tool: name, args: JSON.stringify(args) });
    const act = plan().acts[name] ?? { answers: '{"content":[{"type":"text","text":"ok"}]}' };
    if ('answers' in act) return exact(act.answers) as never;
    if ('refuses' in act) throw new McpError(act.refuses, 'no');
    if ('dies' in act) process.kill(process.pid, 'SIGKILL');
    if (!('echoes' in act)) return new Promise<never>(() => undefined);
    if (act.echoes === 'arguments') return text(args);
    if (act.echoes === 'meta') return text(meta);
    return text(act.echoes === 'headers' ? headers?.() : process.env);
  });
  return server;
};

const [, program, folder] = process.argv;
if (program === import.meta.filename && folder !== undefined) {
  const plan = (): ServerPlan => JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as ServerPlan;
  const taken = (call: Taken): void =>
    appendFileSync(join(folder, 'calls.jsonl'), `${JSON.stringify(call)}\n`);
  // Not a message: servers print such lines.
  process.stdout.write('starting\n');
  process.stderr.write('listening\n');
  const server = sdkServer({ plan, taken });
  await server.connect(new StdioServerTransport());
  process.stdin.once('end', () => process.exit(0));
}
