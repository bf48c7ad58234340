/** kill -9 in the middle of `onrecord run`, then `onrecord resume`: what the world saw is counted outside. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { project, ROOT, sessionIn, type Project, type Running } from './project.ts';
import { linesIn } from '../kit/lines.ts';

const SOURCE = pathToFileURL(join(ROOT, 'src/index.ts')).href;
const ZOD = import.meta.resolve('zod');

/** Each tool notes every execution in a file of its own world, and does not come back while `hold` is there. */
const CONFIG = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from '${ZOD}';
import { defineAgent, scriptedModel, tool } from '${SOURCE}';

const here = import.meta.dirname;
const note = (line) => appendFileSync(here + '/world.txt', line + '\\n');
const act = async (name, { idempotencyKey, attempt }) => {
  note(name + ' ' + attempt + ' ' + idempotencyKey);
  while (existsSync(here + '/hold')) await new Promise((tick) => setTimeout(tick, 20));
  return name + ' came to its end';
};
const kind = (effect, extra = {}) =>
  tool({
    name: 'act.' + effect,
    description: effect,
    inputSchema: z.object({}),
    effect,
    approval: 'never',
    timeoutMs: 600_000,
    execute: (_, context) => act(effect, context),
    ...extra,
  });
const happened = () => readFileSync(here + '/world.txt', 'utf8').includes('reconcilable ');
export default {
  agents: [
    defineAgent({
      name: 'worker',
      instructions: 'Work.',
      tools: [
        kind('none'),
        kind('idempotent'),
        kind('reconcilable', {
          reconcile: () => {
            note('asked');
            return happened() ? { happened: true, result: 'the world has it' } : { happened: false };
          },
        }),
        kind('once'),
      ],
      model: scriptedModel({
        name: 'script',
        steps: [
          {
            text: 'All four.',
            calls: ['none', 'idempotent', 'reconcilable', 'once'].map((effect) => ({ tool: 'act.' + effect })),
            cost: 0.01,
          },
          { text: 'That is that.', cost: 0.01 },
        ],
      }),
    }),
  ],
};
`;

const world = ({ folder }: Project): readonly string[] => linesIn(join(folder, 'world.txt'));

/** Each starts processes, some of them at once. */
const PATIENCE = { timeout: 240_000 };

/** Waits until the world has seen all four executions, and whoever looks at the output the session's name. */
const executed = async (place: Project, run: Running): Promise<void> => {
  await run.said(/s_[0-9A-Z]{8}/);
  await expect.poll(() => world(place).length, { timeout: 60_000 }).toBe(4);
};

const of = (lines: readonly string[], effect: string): readonly string[] =>
  lines.filter((line) => line.startsWith(`${effect} `));

test(
  'kill-then-resume: reads again, idempotent with the same key, the world asked, once in doubt and never again',
  PATIENCE,
  async () => {
    const place = project({ 'onrecord.config.ts': CONFIG, hold: '' });
    const run = place.start('run', 'worker', 'Do all four.');
    await executed(place, run);
    run.kill();
    const killed = await run.done;
    const session = sessionIn(killed.stdout);
    expect(killed.stdout).not.toContain('✓ act.');
    rmSync(join(place.folder, 'hold'));

    const resumed = await place.start('resume', session).done;
    const lines = world(place);
    expect(of(lines, 'none')).toHaveLength(2);
    const idempotent = of(lines, 'idempotent').map((line) => line.split(' '));
    expect(idempotent.map(([, attempt]) => attempt)).toEqual(['1', '2']);
    expect(new Set(idempotent.map(([, , key]) => key)).size).toBe(1);
    expect(of(lines, 'reconcilable')).toHaveLength(1);
    expect(lines.filter((line) => line === 'asked')).toHaveLength(1);
    expect(of(lines, 'once')).toHaveLength(1);

    expect(resumed.stdout).toMatch(/✗ process lost, new driver, lease \d+; no result of .*act\.once 1\.1\.4/);
    expect(resumed.stdout).toMatch(/✓ act\.reconcilable +has checked: it happened/);
    expect(resumed.stdout).toMatch(/\? act\.once +in doubt, no result recorded/);
    expect(resumed.stdout).toContain('? Turn 1 has 1 call in doubt.');
    expect(resumed.stderr).toContain(`onrecord settle ${session}`);
    expect(resumed.code).toBe(4);

    // Once more: nothing is left to drive, nothing runs again.
    const again = await place.start('resume', session).done;
    expect(again.code).toBe(4);
    expect(again.stderr).toContain('Nothing to drive');
    expect(world(place)).toEqual(lines);
    const all = await place.start('resume', '--all', '--json').done;
    expect({ code: all.code, stdout: all.stdout }).toEqual({ code: 0, stdout: '{"resumed":0}\n' });
    expect(world(place)).toEqual(lines);
  },
);

test(
  'interrupt-leaves-it-whole: Ctrl C ends with 130, says how to go on, and resume goes on',
  PATIENCE,
  async () => {
    const place = project({ 'onrecord.config.ts': CONFIG, hold: '' });
    const run = place.start('run', 'worker', 'Do all four.');
    await executed(place, run);
    run.kill('SIGINT');
    rmSync(join(place.folder, 'hold'));
    const interrupted = await run.done;
    const session = sessionIn(interrupted.stdout);
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(`onrecord resume ${session}`);
    // What ran came to its end within the time that is left for it: nothing is in doubt.
    const resumed = await place.start('resume', session).done;
    expect(resumed.code).toBe(0);
    expect(resumed.stdout).toContain('That is that.');
    expect(world(place)).toHaveLength(4);
  },
);

test('two-drive-one: a second resume watches, and both end alike', PATIENCE, async () => {
  const place = project({ 'onrecord.config.ts': CONFIG, hold: '' });
  const run = place.start('run', 'worker', 'Do all four.');
  await executed(place, run);
  const listed = await place.start('sessions', '--json').done;
  const [{ session } = { session: '' }] = JSON.parse(listed.stdout) as { session: string }[];
  const doctor = await place.start('doctor', '--json').done;
  expect(doctor.stdout).not.toContain('onrecord resume');
  const second = place.start('resume', session);
  await second.said('Another process drives');
  rmSync(join(place.folder, 'hold'));
  const [first, watched] = await Promise.all([run.done, second.done]);
  expect([first.code, watched.code]).toEqual([0, 0]);
  expect(watched.stderr).toContain('Another process drives');
  expect(watched.stdout).toContain('That is that.');
  expect(world(place)).toHaveLength(4);
});
