/** A store is verified as it stood at one moment, while sessions in it go on. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defineAgent, openRuntime, scriptedModel, tool } from '../../src/index.ts';
import { project as place } from '../cli/project.ts';
import { openSqlite, tempFolder } from '../kit/folder.ts';

it('verify --all beside sessions that are driven finds nothing that is not there', async () => {
  const path = join(tempFolder(), 'log.db');
  const agent = defineAgent({
    name: 'busy',
    instructions: 'Go on.',
    policy: { rules: [{ id: 'all', do: 'allow' }] },
    tools: [
      tool({
        name: 'work',
        description: 'works',
        inputSchema: { type: 'object' },
        effect: 'once',
        execute: () => 'done',
      }),
    ],
    model: scriptedModel({
      name: 'busy',
      steps: Array.from({ length: 4000 }, (_, i) =>
        i % 2 === 0 ? { calls: [{ tool: 'work' }] } : { text: 'Done.' },
      ),
    }),
  });
  const runtime = await openRuntime({ store: openSqlite(path), agents: [agent] });
  const sessions = await Promise.all(
    ['a', 'b', 'c'].map(
      async (key) => (await runtime.send({ agent: 'busy', key, message: 'Begin.' })).session,
    ),
  );
  let stop = false;
  const working = Promise.all(
    sessions.map(async (session) => {
      for (let turn = 2; !stop; turn++) {
        await runtime.send({ session, key: `${session}-${turn}`, message: 'Go on.' });
        await runtime.rest(session);
      }
    }),
  );
  const checker = place({});
  const heads: number[] = [];
  for (let round = 0; round < 25; round++) {
    const ran = await checker.onrecord('verify', '--all', '--json', '--store', path);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const events = ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { events: number }).events);
    heads.push(events.reduce((sum, one) => sum + one, 0));
    const one = await checker.onrecord('verify', sessions[0] ?? '', '--store', path);
    expect([one.code, one.stderr]).toEqual([0, '']);
  }
  stop = true;
  await working;
  await runtime.close();
  console.log(`verified 25 times while it grew from ${heads[0]} to ${heads.at(-1)} events`);
  expect(heads.at(-1)).toBeGreaterThan(heads[0] ?? 0);
}, 120_000);
