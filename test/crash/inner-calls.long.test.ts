/** A call that makes calls, killed at every pair of boundaries, and at each of them for real. */
import { describe, expect, it } from 'vitest';
import { crashMatrix, type Matrix } from '../../src/suite/crash/matrix.ts';

const matrixOf = (name: string, mode: 'simulated' | 'real', twice: boolean): Promise<Matrix> =>
  crashMatrix({
    text: { name, agent: `./errands.ts#${name}`, turns: ['Go.'], answers: { default: 'approve' } },
    home: import.meta.dirname,
    mode,
    twice,
  });

const bad = ({ results }: Matrix): readonly unknown[] =>
  results
    .filter(({ wrong, verdict }) => wrong || verdict === 'not-reached')
    .map(({ kill, struck, verdict, detail }) => ({ kill, struck, verdict, detail }));

describe('killed', () => {
  it('errands, at every pair of boundaries', async () => {
    const matrix = await matrixOf('errands', 'simulated', true);
    expect(bad(matrix)).toEqual([]);
    expect(matrix.results.length).toBeGreaterThan(1000);
  }, 900_000);

  it('errands, with SIGKILL', async () => {
    expect(bad(await matrixOf('errands', 'real', false))).toEqual([]);
  }, 900_000);
});
