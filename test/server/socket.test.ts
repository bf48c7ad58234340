/** Streams over real sockets: connections that are really cut, readers that really stand still. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemRandom } from '../../src/clock.ts';
import { OnrecordClient, type StreamItem } from '../../src/client/client.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { calm, until } from '../kit/clock.ts';

type Served = { readonly door: Listening; readonly token: string; readonly runtime: Runtime };

const agentSaying = (steps: readonly ScriptReply[]): ReturnType<typeof defineAgent> =>
  defineAgent({
    name: 'clerk',
    instructions: 'Be exact.',
    model: scriptedModel({ name: 'long', steps }),
    tools: [
      tool({
        name: 'look',
        description: 'Looks.',
        inputSchema: { type: 'object' },
        effect: 'none',
        approval: 'never',
        execute: () => 'seen',
      }),
    ],
    limits: { stepsPerTurn: 100 },
  });

const STEPS: readonly ScriptReply[] = [
  ...Array.from({ length: 30 }, (_, n) => ({
    text: `Step ${n}: ${'words '.repeat(20)}`,
    calls: [{ tool: 'look', args: { n } }],
  })),
  { text: 'Done.' },
];

const served = async (
  store: LogStore,
  steps: readonly ScriptReply[],
  { names = [], drive = true }: { readonly names?: readonly string[]; readonly drive?: boolean } = {},
): Promise<Served> => {
  const runtime = await openRuntime({ store, agents: [agentSaying(steps)], drive });
  const door = await listen({ runtime, port: 0, names });
  onTestFinished(async () => {
    await door.close(0);
    await runtime.close({ drainMs: 0 });
  });
  const by = { kind: 'program', name: 'test' } as const;
  const { token } = await door.app.tokens.add({ name: 'anna', roles: ['submit', 'read'] }, by);
  return { door, token, runtime };
};

/** A wire that breaks: every connection is reset once so many bytes of answers went over it. */
class BreakingWire {
  readonly #server = createServer((near) => this.#join(near));
  readonly #bytes: () => number;
  cuts = 0;
  to = 0;

  constructor(bytes: () => number) {
    this.#bytes = bytes;
  }

  async open(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    onTestFinished(() => new Promise<void>((resolve) => void this.#server.close(() => resolve())));
    return (this.#server.address() as AddressInfo).port;
  }

  #join(near: Socket): void {
    const far = connect(this.to, '127.0.0.1');
    let left = this.#bytes();
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    far.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) {
        near.write(chunk);
        return;
      }
      this.cuts++;
      // Not a polite end: what was on its way is lost.
      near.write(chunk.subarray(0, chunk.length + left));
      near.resetAndDestroy();
    });
  }
}

describe('a wire that breaks', () => {
  test('loses and repeats no event: the client goes on where it was, and the session never noticed', async () => {
    const wire = new BreakingWire(() => 4000 + (systemRandom.bytes(1)[0] ?? 0) * 20);
    const port = await wire.open();
    const { door, token, runtime } = await served(new MemoryLog(), STEPS, {
      names: [`127.0.0.1:${port}`],
    });
    wire.to = door.port;
    const client = new OnrecordClient({ url: `http://127.0.0.1:${port}`, token, attempts: 20 });
    const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' }, { key: 'k' });
    const items: StreamItem[] = [];
    for await (const item of client.stream(session, { turn: 1 })) items.push(item);
    const { seq } = await runtime.state(session);
    const seqs = items.flatMap((item) => (item.kind === 'event' ? [item.event.seq] : []));
    expect(seqs).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
    expect(wire.cuts).toBeGreaterThan(3);
    const { turns } = await runtime.state(session);
    expect(turns).toMatchObject([{ outcome: 'done' }]);
  }, 60_000);

  test('what the model is just saying goes over it marked as such, and never with an id', async () => {
    const { door, token, runtime } = await served(new MemoryLog(), STEPS);
    await runtime.setMode('frozen');
    const client = new OnrecordClient({ url: door.url, token });
    const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' }, { key: 'k' });
    const response = await fetch(`${door.url}/sessions/${session}/stream?turn=1`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const reading = response.text();
    await until('the stream is open', () => door.app.openStreams() === 1);
    await runtime.setMode('normal');
    const frames = (await reading).split('\n\n').filter((frame) => frame !== '');
    const deltas = frames.filter((frame) => frame.startsWith('event: delta\n'));
    expect(deltas).toHaveLength(STEPS.length);
    for (const delta of deltas) expect(delta).toMatch(/^event: delta\ndata: \{.*"attempt":1.*\}$/);
    // Every other one is an event with its place, or the end.
    for (const frame of frames)
      expect(frame).toMatch(/^(id: \d+\nevent: \S+\ndata: |event: (delta|end)\ndata: |: )/);
  });

  test('a reader that goes is forgotten, and its session goes on', async () => {
    const { door, token, runtime } = await served(new MemoryLog(), [{ text: 'Done.' }, { text: 'Done.' }]);
    const client = new OnrecordClient({ url: door.url, token });
    const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' }, { key: 'k' });
    const leave = new AbortController();
    const readers = await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(`${door.url}/sessions/${session}/stream`, {
          headers: { authorization: `Bearer ${token}` },
          signal: leave.signal,
        }),
      ),
    );
    expect(readers.every(({ status }) => status === 200)).toBe(true);
    await until('all are there', () => door.app.openStreams() === 20);
    leave.abort();
    await gone(door);
    const turn = await client.send(session, { message: 'Go on.' }, { waitSeconds: 20 });
    expect(turn).toMatchObject({ turn: 2, state: 'done' });
    expect((await runtime.state(session)).turns).toHaveLength(2);
  });
});

/** Sockets close in their own time: a wait on the condition, by the event loop's turns. */
const gone = (door: Listening): Promise<void> =>
  until('every stream is closed', () => door.app.openStreams() === 0);

/** The same store, with count kept of what it hands out. */
const counting = (inner: MemoryLog): { readonly store: LogStore; readonly handed: () => number } => {
  let handed = 0;
  const read: LogStore['read'] = async (...asked) => {
    const found = await inner.read(...asked);
    for (const { body } of found) handed += body.length;
    return found;
  };
  const store: LogStore = {
    name: inner.name,
    append: (append) => inner.append(append),
    read,
    head: (session) => inner.head(session),
    blob: (digest) => inner.blob(digest),
    sessions: (query) => inner.sessions(query),
    counts: () => inner.counts(),
    claim: (request) => inner.claim(request),
    renew: (session, epoch, end) => inner.renew(session, epoch, end),
    release: (session, epoch) => inner.release(session, epoch),
    changes: (listener) => inner.changes(listener),
    close: () => Promise.resolve(),
  };
  return { store, handed: () => handed };
};

describe('a reader that stands still', () => {
  const MESSAGE_BYTES = 500_000;
  const MESSAGES = 60;
  /** What the two sockets and the stream hold, generously; all messages are many times that. */
  const HELD_BYTES_MAX = 12_000_000;

  test('makes the server hold no more than its sockets do, and holds nobody up', async () => {
    const log = new MemoryLog();
    const worker = await openRuntime({ store: log, agents: [agentSaying([])], drive: false });
    onTestFinished(() => worker.close({ drainMs: 0 }));
    const { session } = await worker.send({ agent: 'clerk', message: 'Go.', key: 'k' });
    // The door's own process only serves: what it reads is what the stream reads.
    const { store, handed } = counting(log);
    const { door, token } = await served(store, [], { drive: false });
    const socket = connect(door.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write(
      `GET /sessions/${session}/stream?deltas=false HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await until('the stream is open', () => door.app.openStreams() === 1);
    for (let n = 0; n < MESSAGES; n++)
      await worker.send({ session, message: String(n % 10).repeat(MESSAGE_BYTES), key: `k${n}` });
    // Whatever the stream would still take of it, it takes now.
    await calm(1000);
    expect((await worker.state(session)).turns).toHaveLength(MESSAGES + 1);
    const all = (await log.read(session)).reduce((sum, { body }) => sum + body.length, 0);
    expect(all).toBeGreaterThan(MESSAGE_BYTES * MESSAGES);
    expect(handed()).toBeGreaterThan(MESSAGE_BYTES);
    expect(handed()).toBeLessThan(HELD_BYTES_MAX);
    socket.destroy();
    await gone(door);
  }, 60_000);
});
