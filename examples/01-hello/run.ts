/** The smallest agent: one tool, one turn, and what is on record afterwards. */
import { z } from 'zod';
import { defineAgent, MemoryLog, openRuntime, scriptedModel, tool } from '../../src/index.ts';

const clock = tool({
  name: 'clock.read',
  description: 'Says what time it is in a city.',
  inputSchema: z.strictObject({ city: z.string() }),
  effect: 'none',
  execute: ({ city }) => `It is noon in ${city}.`,
});

const greeter = defineAgent({
  name: 'greeter',
  instructions: 'Answer in one sentence.',
  tools: [clock],
  model: scriptedModel({
    name: 'script',
    steps: [{ calls: [{ tool: 'clock.read', args: { city: 'Graz' } }] }, { text: 'Noon: good day to you.' }],
  }),
});

const runtime = await openRuntime({ store: new MemoryLog(), agents: [greeter] });
const { session } = await runtime.send({ agent: 'greeter', message: 'Greet me as is fit in Graz.' });
const { status } = await runtime.rest(session);

console.log(`The session is ${status}. On record:`);
for await (const event of runtime.follow(session)) {
  console.log(`${String(event.seq).padStart(3)}  ${event.type}`);
  if (event.type === 'turn.ended') break;
}
await runtime.close();
