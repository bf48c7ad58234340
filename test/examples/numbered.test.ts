/** The numbered examples print what their READMEs show; `npm run examples -- --write` writes it down anew. */
import { expect, test } from 'vitest';
import { cannotPlay, numberedExamples, playExample, steady } from '../../scripts/examples.ts';

test.each(numberedExamples())('%s', { timeout: 400_000 }, async (name) => {
  const why = cannotPlay(name);
  if (why !== undefined) {
    console.warn(`examples/${name} is not run here: ${why}`);
    return;
  }
  const { expected, actual } = await playExample(name);
  expect(steady(actual)).toBe(steady(expected));
});
