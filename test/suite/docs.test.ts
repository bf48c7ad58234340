/** docs/suites.md: its commands run, its scenario passes, its tables name every key that a scenario has. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { serve } from '../../src/cli/commands/serve.ts';
import { suite } from '../../src/cli/commands/suite.ts';
import { examSchema } from '../../src/suite/exam/scenario.ts';
import { expectSchema } from '../../src/suite/exam/expect.ts';
import { STAGED_KINDS } from '../../src/suite/fault-plan.ts';
import { ROOT, onStage, project } from '../cli/project.ts';
import { complaints } from './exam-stage.ts';

/** Run by airline.test.ts, where the recordings are there. */
const RECORDED = ['examples/airline/conversations.ts'];
const PAGE = readFileSync(join(ROOT, 'docs/suites.md'), 'utf8');
/** Without what a shell does with the output. */
const LINES = [...PAGE.matchAll(/^onrecord suite ([^>\n]+?)(?: > .+)?$/gm)].map(([, words = '']) =>
  words.split(' '),
);

/** Ends a hopeless wait: all shipped scenarios are played, several times over. */
const ALL_MS = 240_000;

const optionsOf = ({ options }: Command): readonly string[] =>
  options.flatMap(({ flags }) => flags.match(/--[-a-z]+/g) ?? []);

it('every command line has actions and options that exist', () => {
  expect(LINES.length).toBeGreaterThan(8);
  const known = new Set([...optionsOf(suite), ...optionsOf(serve)]);
  for (const words of [...LINES, [...(PAGE.match(/--[a-z]+/g) ?? [])]])
    expect(words.filter((word) => word.startsWith('-') && !known.has(word) && word !== '--json')).toEqual([]);
  for (const [action] of LINES) expect(['init', 'run', 'record', 'compare']).toContain(action);
});

it('the commands about the examples run as they stand', { timeout: ALL_MS }, async () => {
  const run = LINES.filter((words) => words.some((word) => word.startsWith('examples'))).filter(
    (words) => !words.some((word) => ['--model', '--update', '--faults', ...RECORDED].includes(word)),
  );
  expect(run.length).toBeGreaterThanOrEqual(4);
  for (const words of run) {
    const { code, stderr } = await onStage(ROOT, {}, ['suite', ...words]);
    expect([words, code, complaints(stderr)]).toEqual([words, 0, '']);
  }
});

it('its scenario passes, and its first two commands work in an empty folder', async () => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? [];
  const made = project({
    'agents/clerk.yaml':
      'instructions: Be exact.\nmodel: { scripted: script.yaml }\ntools: [{ files: { root: books } }]\n',
    'script.yaml': 'name: s\nsteps: []\n',
    'scenarios/note.yaml': yaml,
  });
  expect(await made.onrecord('suite', 'run')).toMatchObject({ code: 0, stderr: '' });
  const empty = project({});
  for (const words of LINES.slice(0, 2))
    expect([words, (await empty.onrecord('suite', ...words)).code]).toEqual([words, 0]);
});

type Shape = { readonly shape: Readonly<Record<string, unknown>> };

it('its tables name every key, and no other', () => {
  const rows = [...PAGE.matchAll(/^\| (`[a-zA-Z`, ]+`) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[a-zA-Z]+/g) ?? [],
  );
  const keys = [examSchema, expectSchema].flatMap((one) => Object.keys((one as unknown as Shape).shape));
  const staged = Object.keys(STAGED_KINDS);
  expect(new Set(rows)).toEqual(new Set([...keys, ...staged.filter((kind) => /^[a-z]+$/.test(kind))]));
  for (const kind of staged) expect(PAGE).toMatch(new RegExp(`^\\| .*\`${kind}\`.* \\|`, 'm'));
});

it('a plan of faults is in force in every run', { timeout: ALL_MS }, async () => {
  const made = project({ 'plan.yaml': '- { at: append.after, what: response.received, do: crash }\n' });
  mkdirSync(join(made.folder, 'out'));
  const plan = join(made.folder, 'plan.yaml');
  const { code, stderr } = await onStage(ROOT, {}, ['suite', 'run', 'examples', '--faults', plan]);
  expect([code, complaints(stderr)]).toEqual([0, '']);
  writeFileSync(plan, '- { at: call.before, what: nothing.such, do: crash }\n');
  expect((await onStage(ROOT, {}, ['suite', 'run', 'examples', '--faults', plan])).code).toBe(8);
});
