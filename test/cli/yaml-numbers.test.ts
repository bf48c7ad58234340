/** Promise: a number in a file is the number that stands there, or the file is refused at its line. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readYaml } from '../../src/cli/yaml-file.ts';
import { readScript } from '../../src/model/script-file.ts';

const FILE = { where: 'case.yaml', code: 'agent-file-invalid' };
const valueOf = (text: string): unknown =>
  (readYaml(Buffer.from(`a: 1\nv: ${text}\n`), FILE).value as { readonly v: unknown }).v;

const message = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return String(error);
  }
  return 'accepted';
};

const script = (id: string): string => `name: s\nsteps:\n  - calls: [{ tool: t, args: { id: ${id} } }]\n`;

test.each([
  ['9007199254740991', 9_007_199_254_740_991],
  ['1.10', 1.1],
  ['1e3', 1000],
  ['-0.5', -0.5],
  ['0x1f', 31],
  ['012', 12],
  ['+5', 5],
  ['"9007199254740993"', '9007199254740993'],
  ['9_007', '9_007'],
])('%s is read as it stands', (text, value) => {
  expect(valueOf(text)).toBe(value);
});

test.each([
  '9007199254740993',
  '-2512292042121000001',
  '0.1234567890123456789012',
  '1e400',
  '0x20000000000001',
])('%s is refused at its line', (text) => {
  expect(message(() => valueOf(text))).toMatch(/case\.yaml:2.*cannot be held exactly/s);
});

test('a number in the arguments of a script is no other one', () => {
  expect(message(() => readScript(script('2512292042121000001'), 'script.yaml'))).toMatch(
    /script\.yaml:3:\d+: the number 2512292042121000001 cannot be held exactly.*argsRaw/,
  );
  expect(readScript(script('7'), 'script.yaml').steps[0]?.calls?.[0]?.args).toEqual({ id: 7 });
});

test.each(['1.10', 'true', '7'])('%s where a text is meant: how it is written as one', (value) => {
  const schema = z.strictObject({ version: z.string() });
  const read = (): unknown => readYaml(Buffer.from(`# one\nversion: ${value}\n`), FILE).check(schema);
  expect(message(read)).toMatch(new RegExp(`case\\.yaml:2.*"${value}"`, 's'));
});
