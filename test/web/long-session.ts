/** A session of any length, made by the real runtime: turns of three steps with two calls each, as an agent would work. */
import type { LogStore } from '../../src/log/store.ts';
import type { Model } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const STEPS_A_TURN = 3;
const EVENTS_A_TURN = 20;

const look = tool<{ readonly shelf: string }>({
  name: 'stock.look',
  description: 'Counts what stands on a shelf.',
  effect: 'none',
  approval: 'never',
  labels: { untrusted: true },
  inputSchema: { type: 'object', properties: { shelf: { type: 'string' } }, required: ['shelf'] },
  execute: ({ shelf }) => ({
    shelf,
    boxes: shelf.length * 7,
    note: 'Counted by the night shift. '.repeat(8),
  }),
});

const usage = { cacheRead: 900, cacheWrite: 120, input: 12, output: 60 };

/** `began` is called with the number of each turn that the model begins to answer. */
const modelOf = (began: (turn: number) => Promise<void>): Model => ({
  definition: { provider: 'scripted', name: 'stock-clerk', params: {} },
  encoder: neutralEncoder,
  send: async ({ modelCall }) => {
    const step = (modelCall - 1) % STEPS_A_TURN;
    if (step === 0) await began((modelCall - 1) / STEPS_A_TURN + 1);
    if (step === STEPS_A_TURN - 1) {
      const text = `Both rows are complete after call ${modelCall}.`;
      return { kind: 'response', stop: 'end', content: [{ type: 'text', text }], usage, cost: 0.0004 };
    }
    const call = (n: number) => {
      const args = JSON.stringify({ shelf: `row ${step + 1}, shelf ${n}, ${modelCall}` });
      return { type: 'call', label: `call_${modelCall}_${n}`, name: 'stock.look', args } as const;
    };
    const content = [{ type: 'text', text: 'I count the next row.' } as const, call(1), call(2)];
    return { kind: 'response', stop: 'calls', content, usage, cost: 0.0006 };
  },
});

export const stockClerk = (began: (turn: number) => Promise<void> = async () => undefined): Agent =>
  defineAgent({
    name: 'stock-clerk',
    instructions: 'Count what is on the shelves.',
    model: modelOf(began),
    tools: [look],
    context: { select: { kind: 'last-turns', turns: 3 } },
  });

const messageOf = (turn: number): string =>
  `Count rows ${turn * 2 - 1} and ${turn * 2}, and say whether they are complete.`;

/**
 * Has turn after turn answered until the log has so many events; hands back the session's id. The next message comes
 * while a turn runs, so that the session is driven once and not read anew for each of them.
 */
export const growSession = async (store: LogStore, events: number): Promise<string> => {
  let session = '';
  const agent = stockClerk(async (turn) => {
    const head = await store.head(session);
    if ((head?.seq ?? 0) < events - EVENTS_A_TURN)
      await runtime.send({ session, message: messageOf(turn + 1), key: `turn-${turn + 1}` });
  });
  const runtime = await openRuntime({ store, agents: [agent], drive: false });
  ({ session } = await runtime.send({ agent: agent.definition.name, message: messageOf(1), key: 'turn-1' }));
  await runtime.rest(session);
  await runtime.close();
  return session;
};
