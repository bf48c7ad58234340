/** An agent whose program makes the calls that errands.ts makes from TypeScript. Rooms are shared by all its lives. */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, scriptedModel, type Agent } from '../../src/index.ts';
import { openRooms } from '../../src/room/rooms.ts';
import { javascriptTools } from '../../src/tools.ts';
import { plainTools } from '../crash/errands.ts';

const CALLABLE = ['look', 'file', 'send'];

const CODE = `const n = await tools.look({ n: 1 });
const filed = await Promise.all([n, n + 1].map((slip) => tools.file({ n: slip })));
console.log(filed.length, Math.random());
return [...filed, await tools.send({ n: 4 }), Date.now() > 0, Math.random()];`;

const rooms = await openRooms({ level: 'wasm', folder: join(tmpdir(), `onrecord-program-${process.ppid}`) });

export const program = async ({ desk }: { readonly desk: string }): Promise<Agent> => {
  mkdirSync(desk, { recursive: true });
  const calls = [{ tool: 'run_javascript', args: { code: CODE, tools: CALLABLE } }];
  return defineAgent({
    name: 'program',
    instructions: 'Run the program.',
    model: scriptedModel({ name: 'program', steps: [{ calls }, { text: 'Done.' }] }),
    tools: [...plainTools(desk), ...(await javascriptTools({ rooms, tools: CALLABLE }))],
  });
};
