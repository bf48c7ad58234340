/** docs/approvals.md: its files make a project, its commands run there, and what it prints is what they print. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT_MEANING } from '../../src/cli/exit-code.ts';
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.ts';
import { MODES } from '../../src/event/definition.ts';
import { conditionProblem } from '../../src/effect/policy-check.ts';
import { project, ROOT, sessionIn } from './project.ts';

const PAGE = readFileSync(join(ROOT, 'docs/approvals.md'), 'utf8');

/** Files by their path: a name in backticks on its own line, and the block under it. */
const FILES = Object.fromEntries(
  [...PAGE.matchAll(/^`([\w./-]+)`\n\n```\w+\n([^]*?)^```$/gm)].map(([, path = '', text = '']) => [
    path,
    text.replace("'onrecord'", JSON.stringify(join(ROOT, 'src/index.ts'))),
  ]),
);

type Step = { readonly words: readonly string[]; readonly printed: readonly string[] };

const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const STEPS: readonly Step[] = [...PAGE.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
  block
    .split(/^\$ (?:onrecord )?/m)
    .slice(1)
    .map((part) => {
      const [command = '', ...printed] = part.trimEnd().split('\n');
      return { words: wordsOf(command), printed };
    }),
);

const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('docs/approvals.md', { timeout: 120_000 }, () => {
  it('prints what its commands print, in the project that its files make', async () => {
    expect(Object.keys(FILES)).toEqual([
      'agents/clerk.yaml',
      'script.yaml',
      'books/letter.txt',
      'onrecord.config.ts',
    ]);
    expect(STEPS).toHaveLength(12);
    const place = project(FILES);
    let session = '';
    let digest = '';
    for (const { words, printed } of STEPS) {
      const args = words.map((word) => word.replace('s_7Q2M4K1B', session).replace('b81e44a0', digest));
      if (words[0] === 'rm') {
        rmSync(join(place.folder, words[1] ?? ''));
        continue;
      }
      const { stdout, stderr } = await place.onrecord(...args);
      if (words[0] === 'run') session = sessionIn(stdout);
      if (words[0] === 'run' && stdout.includes('waits for a person')) {
        const { approvals } = JSON.parse((await place.onrecord('approvals', session, '--json')).stdout) as {
          approvals: readonly { digest: string }[];
        };
        digest = approvals[0]?.digest.slice(0, 16) ?? '';
      }
      for (const line of printed)
        expect({ words, said: squeezed(stdout + stderr) }).toEqual({
          words,
          said: expect.stringContaining(
            squeezed(line.replace('b81e44a0', digest).replace('s_7Q2M4K1B', session)),
          ) as string,
        });
    }
    expect(readFileSync(join(place.folder, 'books/notes/halden.txt'), 'utf8')).toContain('New address');
    expect(readFileSync(join(place.folder, 'told.jsonl'), 'utf8')).toContain('"approval.requested"');
  });

  const lines = [...new Set([...PAGE.matchAll(/`onrecord ([^`]+)`/g)].map(([, text = '']) => text))];
  it.each(lines)('names a command that exists, with its options: onrecord %s', async (text) => {
    const [name = '', ...rest] = wordsOf(text);
    const command: Command | undefined = await COMMANDS[name]?.();
    if (!command) throw new Error(`There is no command ${name}.`);
    const flags = [...command.options.map((option) => option.flags), ...GLOBAL_OPTIONS.map(([one]) => one)];
    const known = flags.flatMap((one) => one.match(/--[a-z-]+/g) ?? []);
    expect(rest.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([]);
  });

  it('names the modes, the conditions and the exit codes as they are', () => {
    for (const mode of MODES) expect(PAGE).toMatch(new RegExp(`^\\| \`${mode}\` \\|`, 'm'));
    const table = PAGE.slice(PAGE.indexOf('| a condition |'), PAGE.indexOf('Rules never look'));
    const named = [...table.matchAll(/`([a-zA-Z]+)`/g)].map(([, word = '']) => word);
    expect(named).toEqual(['equals', 'oneOf', 'atMost', 'atLeast', 'domainIn', 'hostIn', 'below', 'only']);
    const said = conditionProblem({ at: '/x', nothing: 1 } as never) ?? '';
    expect(said).toContain(`one of ${named.join(', ')}`);
    const codes = PAGE.slice(PAGE.indexOf('## Exit codes'), PAGE.indexOf('## What is guaranteed'));
    for (const [, code = ''] of codes.matchAll(/^\| (\d+) \|/gm))
      expect(Object.keys(EXIT_MEANING)).toContain(code);
  });
});
