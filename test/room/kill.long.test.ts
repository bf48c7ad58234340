/** A program that makes calls, killed at every boundary, and with SIGKILL at some: what it does, it does once. */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { crashMatrix, type Matrix } from '../../src/suite/crash/matrix.ts';

/** Each takes two processes, with rooms of their own. */
const REAL_KILLS = 6;

afterAll(() => {
  for (const pid of [process.pid, process.ppid])
    rmSync(join(tmpdir(), `onrecord-program-${pid}`), { recursive: true, force: true });
});

const matrixOf = (mode: 'simulated' | 'real', only?: readonly number[]): Promise<Matrix> =>
  crashMatrix({
    text: {
      name: 'room/program',
      agent: './program-agent.ts#program',
      turns: ['Go.'],
      answers: { default: 'approve' },
    },
    home: import.meta.dirname,
    mode,
    twice: false,
    ...(only && { only }),
  });

const bad = ({ results }: Matrix): readonly unknown[] =>
  results
    .filter(({ wrong, verdict }) => wrong || verdict === 'not-reached')
    .map(({ kill, struck, verdict, detail }) => ({ kill, struck, verdict, detail }));

test('at every boundary, and with SIGKILL at some of them', async () => {
  const matrix = await matrixOf('simulated');
  expect(bad(matrix)).toEqual([]);
  const places = matrix.boundaries.map(({ point, what }) => `${point} ${what}`);
  expect(places.filter((place) => place.startsWith('append.after call.suspended'))).toHaveLength(3);
  const every = Math.ceil(matrix.boundaries.length / REAL_KILLS);
  for (let at = 1; at <= matrix.boundaries.length; at += every)
    expect(bad(await matrixOf('real', [at]))).toEqual([]);
}, 560_000);
