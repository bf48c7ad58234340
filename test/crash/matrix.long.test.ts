/** The crash matrix where it takes longest: at every pair of boundaries, and by real processes that are killed. */
import { describe, expect, it } from 'vitest';
import { matrixRows, type Matrix } from '../../src/suite/crash/matrix.ts';
import { FAULT_POINTS } from '../../src/worker/fault-point.ts';
import { bad, matrixOf, SMALL, told } from './boundaries.ts';

let pairs: Promise<Matrix> | undefined;
/** The small example at every pair of boundaries; it takes seconds, and two tests look at it. */
const pairsOfSmall = (): Promise<Matrix> => (pairs ??= matrixOf(SMALL, { twice: true }));

describe('killed at every pair of boundaries', () => {
  it(`${SMALL}: every fault point is among them, and doubt is where the effect kind says`, async () => {
    const matrix = await pairsOfSmall();
    expect(bad(matrix)).toEqual([]);
    expect(matrixRows(matrix).map(({ point }) => point)).toEqual([...FAULT_POINTS]);
    expect(matrix.results.length).toBeGreaterThan(1000);
    // In doubt is exactly what was killed from the durable start of the call on to the durable result.
    const doubtful = matrix.results.filter(
      ({ kill, verdict }) => kill.length === 1 && verdict === 'in-doubt',
    );
    expect(doubtful.map(({ struck: [place] }) => `${place?.point} ${place?.what}`)).toEqual([
      'append.after call.started',
      'call.before delivery.call',
      'call.after delivery.call',
      'append.before call.result request.built',
    ]);
    const calls = matrix.results.flatMap(({ inDoubt }) => inDoubt);
    expect(new Set(calls.map(({ tool, effect }) => `${tool} ${effect}`))).toEqual(
      new Set(['delivery.call once']),
    );
  }, 900_000);
});

describe('killed with SIGKILL', () => {
  it(`${SMALL}: each kill ends as the simulated one does`, async () => {
    const simulated = await matrixOf(SMALL);
    const real = await matrixOf(SMALL, { mode: 'real' });
    expect(real.boundaries).toEqual(simulated.boundaries);
    expect(told(real.results)).toEqual(told(simulated.results));
  }, 900_000);

  it('and killed again while it asks what has become of a call', async () => {
    const { boundaries } = await matrixOf(SMALL, { only: [1] });
    const started = boundaries.findIndex(
      ({ point, what }) => point === 'call.after' && what === 'order.file',
    );
    const simulated = await pairsOfSmall();
    const again = simulated.results.filter(
      ({ kill, struck }) => kill[0] === started + 1 && struck[1]?.point.startsWith('reconcile.'),
    );
    expect(again.map(({ struck }) => struck[1]?.point)).toEqual(['reconcile.before', 'reconcile.after']);
    for (const one of again)
      expect(told((await matrixOf(SMALL, { mode: 'real', only: one.kill })).results)).toEqual(told([one]));
  }, 900_000);
});
