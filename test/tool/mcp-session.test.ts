/** Tools of tool servers in sessions: what the record holds of a change, of a restart, and of names. */
import { expect, test } from 'vitest';
import type { Policy } from '../../src/event/definition.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { Bench } from '../field/bench.ts';
import type { GivenCase, GivenReply } from '../field/given.ts';
import { opened, socketWorld, toolText } from '../kit/mcp-world.ts';

const ALL: Policy = { rules: [{ id: 'all', do: 'allow' }] };

const played = async (
  model: readonly GivenReply[],
  before: (world: Awaited<ReturnType<typeof socketWorld>>, requests: number) => void,
): Promise<{ readonly bench: Bench; readonly world: Awaited<ReturnType<typeof socketWorld>> }> => {
  const world = await socketWorld({ tools: [toolText('save', { description: 'saves a draft' })] });
  const { tools, setAside } = await opened({ name: 'files', url: world.url });
  const bench = new Bench({ input: { model } } as unknown as GivenCase, { tools, setAside, policy: ALL });
  bench.onAsked = () => before(world, bench.heard.length);
  await bench.play();
  const events = await bench.events();
  const { encoder } = bench.agent.model;
  expect(
    replay({ session: bench.session, events, encoderOf: () => encoder, program: PROGRAM }).difference,
  ).toBeUndefined();
  expect((await verify(bench.store, bench.session)).findings).toEqual([]);
  return { bench, world };
};

const save = (id: string): GivenReply => ({ calls: [{ id, tool: 'files.save', args: { to: 'a' } }] });

test('a call of a definition that has changed is refused before it starts, also where policy lets it run', async () => {
  const { bench, world } = await played([save('c1'), save('c2'), { text: 'ok' }], (there, requests) => {
    if (requests === 2) there.change({ tools: [toolText('save', { description: 'publishes' })] });
  });
  expect(world.calls).toHaveLength(1);
  expect([await bench.count('call.started'), await bench.count('call.refused')]).toEqual([1, 1]);
  expect(bench.request(3)).toContain('saves a draft');
  expect(bench.request(3)).not.toContain('publishes');
});

test('a server that was started anew is said to be, to people before the call and to the model with its result', async () => {
  const { bench, world } = await played([save('c1'), save('c2'), { text: 'ok' }], (there, requests) => {
    if (requests === 2) there.restart();
  });
  expect(world.calls).toHaveLength(2);
  const prepared = (await bench.events()).filter(({ type }) => type === 'call.prepared');
  expect(prepared.map(({ data }) => JSON.stringify(data).includes('begun anew'))).toEqual([false, true]);
  expect(bench.request(3)).toMatch(/begun anew/);
});

test('the record names the server and the pin behind each tool', async () => {
  const { bench } = await played([{ text: 'ok' }], () => undefined);
  const [created] = await bench.events();
  expect(created).toMatchObject({
    data: {
      agent: {
        tools: [
          {
            name: 'files.save',
            server: { name: 'files', tool: 'save', pin: expect.stringMatching(/^[0-9a-f]{64}$/) },
          },
        ],
      },
    },
  });
});
