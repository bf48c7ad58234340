/** What nobody would send: no 500, no crash, no change. `npm run fuzz` sends 100,000 of them, others each time. */
import { expect, test } from 'vitest';
import { fuzz } from './fuzz-door.ts';

const CASES = 3000;
/** The same ones every time: no change is refused for what it has not brought about. */
const SEED = 1;

test('fuzzed methods, paths, headers and bodies: no 500, no crash, and what is refused changes nothing', async () => {
  const found = await fuzz({ cases: CASES, seed: SEED });
  expect(found.failure).toBeUndefined();
  expect(found.cases).toBe(CASES);
  // They get far: some of everything is taken, and some of every kind is refused.
  expect(found.accepted).toBeGreaterThan(CASES / 20);
  for (const status of ['200', '202', '400', '401', '403', '404', '405', '415', '421', '422'])
    expect(Object.keys(found.statuses)).toContain(status);
}, 120_000);

test('a door that writes before it refuses is caught', async () => {
  const found = await fuzz({
    cases: CASES,
    seed: SEED,
    between: async (request, { app, runtime }) => {
      const response = await app.fetch(request);
      if (response.status === 415) await runtime.send({ agent: 'clerk', message: 'Too early.' });
      return response;
    },
  });
  expect(found.failure).toContain('the store has changed');
}, 120_000);

test('a door that fails is caught', async () => {
  const found = await fuzz({
    cases: CASES,
    seed: SEED,
    between: (request, { app }) =>
      request.headers.get('prefer') === null ? app.fetch(request) : Promise.reject(new Error('planted')),
  });
  expect(found.failure).toContain('planted');
}, 120_000);
