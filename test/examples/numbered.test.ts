/** The numbered examples print what their READMEs show; `npm run examples -- --write` writes it down anew. */
import { expect, test } from 'vitest';
import { numberedExamples, playExample, steady } from '../../scripts/examples.ts';

test.each(numberedExamples())('%s', { timeout: 120_000 }, (name) => {
  const { expected, actual } = playExample(name);
  expect(steady(actual)).toBe(steady(expected));
});
