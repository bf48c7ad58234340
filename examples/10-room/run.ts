/** A model that writes programs: each runs in a room, and what bounded it stands in the record. */
import { defineAgent, MemoryLog, openRuntime, scriptedModel } from '../../src/index.ts';
import { javascriptTools } from '../../src/tools.ts';

const code = `
const sorted = input.map(Number).sort((a, b) => a - b);
console.log(sorted.length, 'numbers');
return { median: sorted[Math.floor(sorted.length / 2)] };
`;
const escape = `return Object.keys(globalThis.process?.env ?? {}).length + ' variables of the host';`;

const analyst = defineAgent({
  name: 'analyst',
  instructions: 'Compute.',
  // "auto" takes gVisor where it works; "wasm" is everywhere.
  tools: await javascriptTools({ level: 'wasm' }),
  policy: { rules: [{ id: 'rooms', do: 'allow', tools: ['run_javascript'] }] },
  model: scriptedModel({
    name: 'script',
    steps: [
      { calls: [{ tool: 'run_javascript', args: { code, input: [3, 1, 2] } }] },
      { calls: [{ tool: 'run_javascript', args: { code: escape } }] },
      { text: 'The median is 2.' },
    ],
  }),
});

const runtime = await openRuntime({ store: new MemoryLog(), agents: [analyst] });
const { session } = await runtime.send({ agent: 'analyst', message: 'The median, please.' });
await runtime.rest(session);
for await (const event of runtime.follow(session)) {
  if (event.type === 'turn.ended') break;
  if (event.type !== 'call.result' || event.data.outcome.kind !== 'ok') continue;
  for (const part of event.data.outcome.content) {
    if (part.type !== 'json') continue;
    const { value, room } = JSON.parse(part.text) as {
      value: unknown;
      room: { level: string; engine: string };
    };
    console.log(`${JSON.stringify(value)}, in a room of level ${room.level}, engine ${room.engine}`);
  }
}
await runtime.close();
process.exit();
