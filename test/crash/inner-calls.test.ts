/** A call that makes calls, killed at every boundary: each of them happens once, and none is made without its answer. */
import { describe, expect, it } from 'vitest';
import { crashMatrix, type Matrix } from '../../src/suite/crash/matrix.ts';

const matrixOf = (name: string): Promise<Matrix> =>
  crashMatrix({
    text: { name, agent: `./errands.ts#${name}`, turns: ['Go.'], answers: { default: 'approve' } },
    home: import.meta.dirname,
    mode: 'simulated',
    twice: false,
  });

const bad = ({ results }: Matrix): readonly unknown[] =>
  results
    .filter(({ wrong, verdict }) => wrong || verdict === 'not-reached')
    .map(({ kill, struck, verdict, detail }) => ({ kill, struck, verdict, detail }));

describe('killed at every boundary', () => {
  it.each(['errands', 'plainErrands'])(
    '%s: no call of a call happens twice',
    async (name) => {
      const matrix = await matrixOf(name);
      expect(bad(matrix)).toEqual([]);
      expect(matrix.complete).toBe(true);
      const places = matrix.boundaries.map(({ point, what }) => `${point} ${what}`);
      expect(places).toContain('append.after call.suspended call.proposed call.started');
      // In doubt is what is killed around the call that nobody can ask about, and nothing else.
      const doubtful = matrix.results.filter(({ verdict }) => verdict === 'in-doubt');
      const tools = doubtful.flatMap(({ inDoubt }) => inDoubt.map(({ tool }) => tool));
      expect(new Set(tools)).toEqual(new Set(['send']));
    },
    240_000,
  );

  it('planted: a tool that leaves a trace each time it is run is found', async () => {
    const { results } = await matrixOf('fickleErrands');
    expect(results.some(({ verdict }) => verdict === 'other-end')).toBe(true);
  }, 240_000);
});
