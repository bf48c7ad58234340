/** The public API is the one that stands in api/: a change of it is made on purpose, with `npm run api`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { API_FOLDER, apiReports } from '../../scripts/api-report.ts';

test('api/ says what the source says; npm run api writes it anew', { timeout: 120_000 }, () => {
  const reports = apiReports();
  expect(readdirSync(API_FOLDER).sort()).toEqual([...reports.keys()].sort());
  for (const [name, text] of reports)
    expect(readFileSync(join(API_FOLDER, name), 'utf8'), `${name} is not what the source says`).toBe(text);
});
