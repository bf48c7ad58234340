/** docs/crash.md: its points are the points, its commands exist, and what it prints is what they print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.ts';
import { readScenarioFile } from '../../src/cli/suite-file.ts';
import { EFFECT_KINDS } from '../../src/event/effect-kind.ts';
import { crashMatrix, type KillResult } from '../../src/suite/crash/matrix.ts';
import { FAULT_KINDS } from '../../src/suite/fault-plan.ts';
import { FAULT_POINTS } from '../../src/worker/fault-point.ts';
import { project, ROOT } from '../cli/project.ts';

const PAGE = readFileSync(join(ROOT, 'docs/crash.md'), 'utf8');

/** A command line as a shell would take it apart; the page uses no quotes but double ones. */
const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const COMMAND_LINES: readonly string[] = [
  ...[...PAGE.matchAll(/`onrecord ([^`]+)`/g)].map(([, text = '']) => text),
  ...[...PAGE.matchAll(/^(?:\$| ) onrecord (.+)$/gm)].map(([, text = '']) => text),
];

const commandOf = async (line: string): Promise<Command> => {
  const [name = ''] = wordsOf(line);
  const load = COMMANDS[name];
  if (!load) throw new Error(`There is no command ${name}.`);
  return load();
};

describe('docs/crash.md', () => {
  it.each([...new Set(COMMAND_LINES)])('has a command that exists: onrecord %s', async (line) => {
    const command = await commandOf(line);
    const flags = [...command.options.map((option) => option.flags), ...GLOBAL_OPTIONS.map(([one]) => one)];
    const known = new Set(flags.flatMap((text) => text.match(/--[a-z-]+/g) ?? []));
    const used = wordsOf(line).filter((word) => word.startsWith('--'));
    expect(used.filter((word) => !known.has(word))).toEqual([]);
  });

  it('names every npm script as it stands in package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...PAGE.matchAll(/`npm run ([\w-]+)`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });

  it('names the fault points, all of them and no others', () => {
    const named = [...PAGE.matchAll(/`([a-z]+\.(?:before|after))`/g)].map(([, point = '']) => point);
    expect([...new Set(named)].sort()).toEqual([...FAULT_POINTS].sort());
    const rows = [...PAGE.matchAll(/^\| `([a-z]+\.(?:before|after))` \|/gm)].map(([, point = '']) => point);
    expect(rows.sort()).toEqual([...FAULT_POINTS].sort());
  });

  it('names the effect kinds and what a plan can do, with the places', () => {
    for (const kind of EFFECT_KINDS) expect(PAGE).toMatch(new RegExp(`^\\| \`${kind}\` \\|`, 'm'));
    for (const [kind, places] of Object.entries(FAULT_KINDS)) {
      const [, where = ''] = new RegExp(`^\\| \`${kind}\` \\|.*\\| ([^|]+) \\|$`, 'm').exec(PAGE) ?? [];
      const named = where === 'everywhere' ? [...FAULT_POINTS] : where.match(/[a-z]+\.[a-z]+/g);
      expect([kind, [...(named ?? [])].sort()]).toEqual([kind, [...places].sort()]);
    }
  });
});

const scenario = readScenarioFile('examples/crash/crash.yaml', ROOT);

const killed = async (only: readonly number[]): Promise<KillResult> => {
  const { results } = await crashMatrix({ ...scenario, mode: 'simulated', twice: false, only });
  const [result] = results;
  if (!result) throw new Error('there is one');
  return result;
};

describe('the table of docs/crash.md', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z.]+)` \|.*\| `--only ([\d,]+)` ([a-z ]+) \|$/gm)];

  it('has a command in each row', () => expect(rows).toHaveLength(FAULT_POINTS.length));

  it.each(rows.map(([, point = '', kill = '', verdict = '']) => [point, kill, verdict]))(
    '%s: --only %s ends there, with: %s',
    async (point = '', kill = '', verdict = '') => {
      const result = await killed(kill.split(',').map(Number));
      expect(result.struck.at(-1)?.point).toBe(point);
      expect(result.verdict.replace('-', ' ')).toBe(verdict);
    },
  );
});

/** Without what differs from run to run, and without the alignment that depends on it. */
const steady = (text: string): string =>
  text
    .replaceAll(/\b[\d.]+ (?:ms|s)\b/g, 'TIME')
    .replaceAll(/\b[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2} \d{4}, UTC/g, 'DAY')
    .replaceAll(/ {2,}/g, ' ')
    .trim();

const EXCERPTS: readonly (readonly [string, string])[] = [
  ...PAGE.matchAll(/^```text\n\$ onrecord (.+)\n([\s\S]*?)\n```$/gm),
].map(([, line = '', output = '']) => [line, output]);

const excerptsOf = (command: string): readonly (readonly [string, string])[] =>
  EXCERPTS.filter(([line]) => line.startsWith(`${command} `));

describe('the output in docs/crash.md is real', { timeout: 120_000 }, () => {
  it.each(excerptsOf('crash-test'))('onrecord %s', async (line, output) => {
    const words = wordsOf(line).map((word) => word.replace('examples/', `${ROOT}/examples/`));
    const ran = await project({}).onrecord(...words);
    expect(steady(`${ran.stdout}${ran.stderr}`)).toBe(steady(output));
  });

  it('onrecord run --faults, and onrecord resume after it', async () => {
    const office = project({
      'faults.yaml': readFileSync(join(ROOT, 'examples/crash/faults.yaml'), 'utf8'),
      'onrecord.config.ts': readFileSync(join(ROOT, 'examples/crash/onrecord.config.ts'), 'utf8')
        .replace('../../src', `${ROOT}/src`)
        .replace('./agent.ts', `${ROOT}/examples/crash/agent.ts`),
    });
    const [[run, died] = ['', '']] = excerptsOf('run');
    const [[resume, went] = ['', '']] = excerptsOf('resume');
    const killedRun = await office.start(...wordsOf(run)).done;
    expect(steady(`${killedRun.stdout}${killedRun.stderr}`)).toBe(steady(died));
    const resumed = await office.onrecord(...wordsOf(resume));
    expect(steady(`${resumed.stdout}${resumed.stderr}`)).toBe(steady(went));
  });

  it('and no excerpt is left out', () => {
    const tested = ['crash-test', 'run', 'resume'].flatMap(excerptsOf);
    expect(tested).toHaveLength(EXCERPTS.length);
    expect(EXCERPTS.length).toBe(5);
  });
});
