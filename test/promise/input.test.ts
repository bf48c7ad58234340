import { expect, test } from 'vitest';
import { defineAgent, MemoryLog, openRuntime, scriptedModel, tool } from '../../src/index.ts';

test('what-was-approved-is-what-runs: a tool that changes its input changes no other call', async () => {
  const given: string[] = [];
  const collect = tool<{ list: number[] }>({
    name: 'collect',
    description: 'Adds to the list it is given.',
    inputSchema: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' } } } },
    effect: 'none',
    execute: (input) => {
      given.push(JSON.stringify(input));
      input.list.push(99);
      return 'done';
    },
  });
  const calls = [
    { tool: 'collect', args: { list: [1] } },
    { tool: 'collect', args: { list: [1] } },
  ];
  const model = scriptedModel({ name: 'twice', steps: [{ calls }, { text: 'Done.' }] });
  const agent = defineAgent({ name: 'collector', instructions: 'Collect.', model, tools: [collect] });
  const runtime = await openRuntime({ store: new MemoryLog(), agents: [agent] });
  const { session } = await runtime.send({ agent: 'collector', message: 'Go.' });
  await runtime.rest(session);
  await runtime.close();
  expect(given).toEqual(['{"list":[1]}', '{"list":[1]}']);
});
