/**
 * A process that drives sessions as fast as it can: each step calls a tool that does nothing. Usage:
 * child-busy.ts FILE SESSIONS STEPS. It prints "running" once all have begun, and "done" when all have ended.
 */
import { scriptedModel } from '../../src/model/scripted.ts';
import { childStore } from './child-store.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

const [file = '', sessions = '1', steps = '1'] = process.argv.slice(2);
const { definition, encoder } = scriptedModel({ name: 'busy', steps: [] });

const agent = defineAgent({
  name: 'busy',
  instructions: 'Go on.',
  model: {
    definition,
    encoder,
    send: async (request) => {
      const reply =
        request.step <= Number(steps)
          ? { calls: [{ tool: 'tick', args: { n: request.step } }] }
          : { text: 'Done.' };
      return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
    },
  },
  tools: [
    tool({
      name: 'tick',
      description: 'does nothing',
      inputSchema: { type: 'object' },
      effect: 'once',
      approval: 'never',
      execute: () => 'tick',
    }),
  ],
  limits: { stepsPerTurn: Number(steps) + 1 },
});

const runtime = await openRuntime({ store: await childStore(file), agents: [agent] });
await Promise.all(
  Array.from({ length: Number(sessions) }, (_, i) =>
    runtime.send({ agent: 'busy', message: 'Go on.', key: `key-${i}` }),
  ),
);
process.stdout.write('running\n');
// While all is frozen nothing else keeps this process alive.
process.stdin.resume();
const isDone = async (): Promise<boolean> =>
  (await runtime.sessions({ limit: 1000 })).every(({ summary }) => summary.status === 'done');
const { promise, resolve } = Promise.withResolvers<void>();
const look = (): void =>
  void isDone().then(
    (done) => done && resolve(),
    () => undefined,
  );
const stop = runtime.store.changes(look);
// All of them may have ended before anybody listened.
look();
await promise;
stop();
process.stdout.write('done\n');
await runtime.close();
process.stdin.destroy();
