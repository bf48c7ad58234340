/** A stand-in for a provider on a real socket, and requests as a driver makes them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import type { PromptBlock } from '../../src/context/encoding.ts';
import type { ResponseBlock } from '../../src/event/content.ts';
import { systemClock } from '../../src/clock.ts';
import { LIMITS_DEFAULT, type AgentDefinition, type ModelDefinition } from '../../src/event/definition.ts';
import type { Delta, Model, ModelReply, ModelRequest } from '../../src/model/model.ts';
import { sleep } from '../../src/worker/jobs.ts';
import { FakeClock } from '../kit/clock.ts';

export type Heard = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};
export type Answering = (heard: Heard, response: ServerResponse) => void | Promise<void>;

/** Serves on a free port of this machine until the test file ends. */
export const standIn = async (
  answer: Answering,
): Promise<{ readonly url: string; readonly heard: Heard[] }> => {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const one = { path, headers, body: Buffer.concat(chunks).toString('utf8') };
      heard.push(one);
      void answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, heard };
};

export const json = (response: ServerResponse, body: unknown, status: number = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

/** A stream in these pieces, each its own write. */
export const stream = async (
  response: ServerResponse,
  pieces: readonly (string | Uint8Array)[],
): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
  response.end();
};

export const agentOf = (model: ModelDefinition, more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name: 'clerk',
  instructions: 'Answer in one word.',
  model,
  tools: [],
  policy: { rules: [] },
  limits: LIMITS_DEFAULT,
  ...more,
});

export type Sent = { readonly reply: ModelReply; readonly deltas: readonly Delta[] };

const BODY = '{"model":"stand-in","stream":true}';

/** The time of a request as a test lets it pass: what ends by silence ends when the test says so, on any machine. */
export class RequestTime {
  readonly clock: FakeClock = new FakeClock();
  /** Milliseconds of each wait that was begun, in order. */
  readonly waits: number[] = [];

  readonly monotonic: ModelRequest['monotonic'] = () => this.clock.monotonic();
  readonly sleep: ModelRequest['sleep'] = (ms, signal) => {
    this.waits.push(ms);
    return sleep(this.clock, ms, signal);
  };
}

export type Sending = {
  readonly body?: string;
  readonly agent?: AgentDefinition;
  readonly signal?: AbortSignal;
  /** Default: real time. */
  readonly time?: RequestTime;
  readonly onDelta?: (delta: Delta) => void;
};

/** Sends one request as the runtime does. */
export const sendTo = async (
  model: Model,
  {
    body = BODY,
    agent = agentOf(model.definition),
    signal = new AbortController().signal,
    time,
    onDelta,
  }: Sending = {},
): Promise<Sent> => {
  const deltas: Delta[] = [];
  const request: ModelRequest = {
    body: () => body,
    agent,
    turn: 1,
    step: 1,
    attempt: 1,
    modelCall: 1,
    signal,
    onDelta: (delta) => {
      deltas.push(delta);
      onDelta?.(delta);
    },
    monotonic: time?.monotonic ?? (() => performance.now()),
    sleep: time?.sleep ?? ((ms, until) => sleep(systemClock, ms, until)),
  };
  return { reply: await model.send(request), deltas };
};

/** Blocks as the conversation hands them to an encoder, where every label can be used. */
export const promptBlocks = (content: readonly ResponseBlock[]): readonly PromptBlock[] =>
  content.map((block) => {
    if (block.type !== 'call') return block;
    const { label, ...rest } = block;
    return { ...rest, id: label };
  });
