/** Fault plans as files, and in the console. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFaultPlanFile } from '../../src/cli/suite-file.ts';
import { isOnrecordError } from '../../src/errors.ts';
import type { Matrix } from '../../src/suite/crash/matrix.ts';
import { project, ROOT, sessionIn, type Project } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';

const refusalOf = (read: () => unknown): { readonly code: string; readonly message: string } => {
  try {
    read();
  } catch (error) {
    if (isOnrecordError(error)) return error;
  }
  throw new Error('it was read');
};

describe('a plan that is written wrong says where', () => {
  const WRONG: readonly (readonly [string, string, string])[] = [
    ['- { at: call.after, do: crash, wen: 2 }', '1:32', 'unknown key "wen"'],
    ['- at: call.after\n  do: explode', '2:7', 'crash, error, delay'],
    ['- at: call.middle\n  do: crash', '1:7', 'call.before, call.after'],
    ['- at: append.after\n  do: disk-full', '2:7', 'it can at append.before'],
    ['- at: append.after\n  do: drop', '2:7', 'it can at request.before'],
    ['- at: call.after\n  do: delay', '2:7', 'needs ms'],
    ['- at: call.after\n  ms: 5\n  do: crash', '2:7', '"delay" and "late" do'],
    ['- at: append.after\n  call: "1.1.1"\n  do: crash', '2:9', 'belongs to no call'],
    ['- at: call.after\n  call: 1.1\n  do: crash', '2:9', ''],
    ['- at: call.after\n  occurrence: 0\n  do: crash', '2:15', ''],
    ['- at: call.after\n  occurrence: 2\n  probability: 0.5\n  do: crash', '2:15', 'not both'],
    ['- at: call.after\n  probability: 1.5\n  do: crash', '2:16', ''],
    ['- at: call.after\n  seed: 7\n  do: crash', '2:9', 'goes with a probability'],
    ['- at: append.after\n  step: "1.1"\n  do: crash', '2:9', 'belongs to no step'],
    ['- at: request.after\n  do: cut', '2:7', 'it can at request.stream'],
    ['- at: request.stream\n  do: crash', '2:7', 'it can at append.before'],
    ['- at: command.before\n  do: clock-back', '2:7', 'needs ms'],
    ['- at: call.after', '1:3', ''],
    ['[]', '1:1', ''],
    ['at: call.after\ndo: crash', '1:1', ''],
    ['- &x { at: call.after, do: crash }\n- *x', '1', 'anchor'],
    ['- { at: call.after, do: crash', '1:30', ''],
  ];
  test.each(WRONG)('%j', async (text, place, words) => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'plan.yaml'), text);
    const { code, message } = refusalOf(() => readFaultPlanFile('plan.yaml', folder));
    expect(code).toBe('fault-plan-invalid');
    expect(message).toContain(`plan.yaml:${place}`);
    expect(message).toContain(words);
  });
});

const stockroom = (plan: string): Project =>
  project({
    'plan.yaml': plan,
    'onrecord.config.ts': `
      import { stockroom } from ${JSON.stringify(join(ROOT, 'examples/crash/agent.ts'))};
      import { defineConfig } from ${JSON.stringify(join(ROOT, 'src/cli/config.ts'))};
      import { join } from 'node:path';
      export default defineConfig({ agents: [stockroom({ desk: join(import.meta.dirname, 'desk') })] });`,
  });

const MESSAGE = 'Order 20 handles.';

describe('onrecord run --faults', { timeout: 120_000 }, () => {
  test('kills the process where the plan says, and names the command that goes on', async () => {
    const office = stockroom('- { at: call.after, what: order.file, do: crash }');
    const killed = await office.start('run', 'stockroom', MESSAGE, '--faults', 'plan.yaml').done;
    expect(killed.code).toBe(-1);
    expect(killed.stderr).toContain('The fault plan kills this process at call.after order.file 1.1.3.');
    const session = sessionIn(killed.stderr);
    expect(killed.stderr).toContain(`onrecord resume ${session}`);
    const resumed = await office.onrecord('resume', session);
    expect([resumed.code, resumed.stdout]).toEqual([3, expect.stringContaining('has checked: it happened')]);
  });

  test('a fault that never comes is an error, whatever else went well', async () => {
    const office = stockroom('- { at: call.after, what: mail.send, do: error }');
    const ran = await office.onrecord('run', 'stockroom', MESSAGE, '--faults', 'plan.yaml');
    expect(ran.stderr).toContain('fault-not-reached');
    expect(ran.stderr).toContain('call.after mail.send: error');
    // A person is waited for, which is more urgent to know than that the plan was not reached.
    expect(ran.code).toBe(3);
  });

  test('a fault that never comes is exit code 8 where nothing else is the matter', async () => {
    const office = stockroom('- { at: command.after, what: settle, do: error }');
    const ran = await office.onrecord(
      'crash-test',
      join(ROOT, 'examples/crash/crash.yaml'),
      '--faults',
      'plan.yaml',
    );
    expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining('fault-not-reached')]);
  });
});

describe('onrecord crash-test --faults', { timeout: 120_000 }, () => {
  test.each([
    ['disk-full', '- { at: append.before, what: call.result, do: disk-full }'],
    ['crash', '- { at: call.after, what: order.file, do: crash }'],
    ['duplicate', '- { at: command.after, what: decide, do: duplicate }'],
    ['error', '- { at: append.after, occurrence: 2, do: error }'],
  ])('no kill beside a fault (%s) has an effect happen twice or loses anything', async (_, plan) => {
    const office = stockroom(plan);
    const scenario = join(ROOT, 'examples/crash/crash.yaml');
    const ran = await office.onrecord('crash-test', scenario, '--faults', 'plan.yaml', '--json');
    const matrix = JSON.parse(ran.stdout) as Matrix;
    expect(matrix.results.length).toBeGreaterThan(40);
    expect(matrix.results.filter(({ wrong }) => wrong)).toEqual([]);
    expect(ran.code).toBe(0);
  });
});
