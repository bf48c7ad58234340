/** docs/hand-over.md: its commands and options exist, its rules are the rules, its numbers are those of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROWS_MAX, TEXT_LENGTH_MAX } from '../../src/bundle/page/paper.ts';
import { parseRules } from '../../src/bundle/redaction-rules.ts';
import { REPEAT_LENGTH_MIN } from '../../src/bundle/repeats.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { formatCount } from '../../src/view/format.ts';
import { ROOT } from '../cli/project.ts';

const PAGE = readFileSync(join(ROOT, 'docs/hand-over.md'), 'utf8');

it('every command line names a command and options that exist', async () => {
  const lines = [...PAGE.matchAll(/(?:`|^)onrecord ([a-z].*?)(?:`|$)/gm)].map(([, text = '']) => text);
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines) {
    const [name = '', ...words] = line.split(' ');
    const load = COMMANDS[name];
    if (!load) throw new Error(`There is no command ${name}.`);
    const known = new Set((await load()).options.flatMap(({ flags }) => flags.match(/-[-a-z]+/g) ?? []));
    expect([line, words.filter((word) => word.startsWith('-') && !known.has(word))]).toEqual([line, []]);
  }
});

it('every rule of its table is one, and its limits are the limits', () => {
  const rules = [...PAGE.matchAll(/^\| (`.*`) \| /gm)].flatMap(
    ([, cell = '']) => cell.match(/[^`, ]+/g) ?? [],
  );
  expect(rules.length).toBeGreaterThan(5);
  for (const rule of rules) expect(parseRules(rule)).toHaveLength(1);
  expect(PAGE).toContain(`The last ${formatCount(ROWS_MAX)} events have rows`);
  expect(PAGE).toContain(`a text is shown to ${formatCount(TEXT_LENGTH_MAX)} characters`);
  expect(PAGE).toContain(`from ${REPEAT_LENGTH_MIN} characters on`);
});
