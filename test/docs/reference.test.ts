/** The reference pages are what the source says; `npm run reference` writes them anew. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from '../../scripts/reference.ts';
import { ROOT } from '../cli/project.ts';

test('commands, errors and events', { timeout: 120_000 }, async () => {
  for (const [path, text] of await referencePages())
    expect(readFileSync(join(ROOT, path), 'utf8'), `${path} is stale: npm run reference`).toBe(text);
});
