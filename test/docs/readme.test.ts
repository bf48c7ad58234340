/** The transcript of the README is what the command prints, line by line; an ellipsis stands for lines left out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENT, MESSAGE, setUpFolder } from '../../scripts/demo-folder.ts';
import { steady } from '../../scripts/examples.ts';
import { onStage, ROOT } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';

const COLUMNS = 80;

/** A draft is named by its day and its text. */
const plain = (text: string): readonly string[] =>
  steady(text.replaceAll(/draft-[\d-]+-[0-9a-f]+/g, 'draft'))
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/ +/g, ' ')
        .replaceAll(/first token [\d.]+ s/g, 'first token SPAN')
        .trim(),
    )
    .filter((line) => line !== '');

test('the-readme-shows-what-is-printed', { timeout: 240_000 }, async () => {
  const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, shown = ''] = /^```text\n\$ onrecord run inbox-assistant [^]*?\n\n([^]*?)^```/m.exec(page) ?? [];
  const folder = join(tempFolder(), 'desk');
  setUpFolder(folder);
  const { code, stdout, stderr } = await onStage(folder, { columns: COLUMNS, env: { NO_COLOR: '1' } }, [
    'run',
    AGENT,
    MESSAGE,
  ]);
  expect(code).toBe(3);
  const printed = plain(stdout.replaceAll('\u001b[2K', '') + stderr.replaceAll(/^.*\u001b\[2K/gms, ''));
  let at = 0;
  for (const line of plain(shown)) {
    if (line === '…') continue;
    const found = printed.indexOf(line, at);
    expect({ line, found: found >= 0, printed: found >= 0 ? [] : printed }).toEqual({
      line,
      found: true,
      printed: [],
    });
    at = found + 1;
  }
  expect(at).toBeGreaterThan(10);
});
