/** One message to an agent that can read shelves, on a real runtime, to the end of its turn. */
import { onTestFinished } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { EventData, EventType, LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model } from '../../src/model/model.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import type { StreamDelta } from '../../src/worker/jobs.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

export type Told = {
  readonly events: readonly LogEvent[];
  readonly deltas: readonly StreamDelta[];
  /** What every store, warning and delta held, for a look for secrets. */
  readonly everything: string;
};

export const ask = async (model: Model, message: string, requestMs: number = 20_000): Promise<Told> => {
  const shelf = { type: 'string' } as const;
  const agent = defineAgent({
    name: 'keeper',
    instructions: 'Keep the ledger.',
    model,
    limits: { requestMs },
    tools: [
      tool({
        name: 'stock.read',
        description: 'Reads a shelf.',
        inputSchema: { type: 'object', properties: { shelf }, required: ['shelf'] },
        effect: 'none',
        execute: (input) => `12 on ${JSON.stringify(input)}`,
      }),
    ],
  });
  const store = new MemoryLog();
  const said: unknown[] = [];
  const hear = (...words: unknown[]): void => void said.push(words);
  const runtime = await openRuntime({ store, agents: [agent], log: { info: hear, warn: hear } });
  onTestFinished(() => runtime.close());
  const { session } = await runtime.send({ agent: 'keeper', message });
  const deltas: StreamDelta[] = [];
  runtime.watch(session, (delta) => deltas.push(delta));
  await runtime.rest(session);
  const events = (await store.read(session)).map(open);
  const digests = [...JSON.stringify(events).matchAll(/"(?:digest|head|tail)":"([0-9a-f]{64})"/g)];
  const blobs = await Promise.all(digests.map(async ([, digest]) => store.blob(digest as never)));
  const bytes = blobs.map((blob) => Buffer.from(blob ?? []).toString('latin1'));
  return { events, deltas, everything: JSON.stringify([events, deltas, said, bytes]) };
};

export const dataOf = <T extends EventType>({ events }: Told, type: T): readonly EventData[T][] =>
  events.filter((event) => event.type === type).map(({ data }) => data as EventData[T]);

export const timesOf = ({ events }: Told, type: EventType): readonly number[] =>
  events.filter((event) => event.type === type).map(({ at }) => at);

export const answerOf = (told: Told): string =>
  (dataOf(told, 'response.received').at(-1)?.content ?? [])
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
