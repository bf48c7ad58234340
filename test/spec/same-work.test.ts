/** Two pieces of work are the same one exactly where they have one name. */
import { expect, test } from 'vitest';
import { isSameWork, workName, type Work } from '../../src/session/next.ts';
import { NO_PAUSE, type CallState } from '../../src/session/state.ts';
import { asking, prepared } from '../kit/story.ts';

const calls = (): readonly CallState[] => {
  const story = asking(['a', 'b'].map((label) => ({ tool: 'asks', label })));
  const before = story.state.active?.calls ?? [];
  const [first] = before;
  if (first) story.given(prepared(first.id, 'Do it?'));
  return [...before, ...(story.state.active?.calls ?? [])];
};

const attempts = [1, 2];

const works = (): readonly Work[] => [
  ...[1, 2].flatMap((turn): Work[] => [
    { kind: 'build', turn, step: 1 },
    { kind: 'build', turn, step: 2, summary: true },
    ...attempts.flatMap((attempt): Work[] => [
      { kind: 'request', turn, step: 1, attempt },
      { kind: 'resend', turn, step: 1, attempt, pause: NO_PAUSE },
      { kind: 'resend', turn, step: 2, attempt, pause: NO_PAUSE },
    ]),
  ]),
  ...calls().flatMap((call): Work[] => [
    { kind: 'prepare', call },
    { kind: 'prepare', call: { ...call, round: call.round + 1 } },
    ...attempts.flatMap((attempt): Work[] => [
      { kind: 'start', call, attempt, pause: NO_PAUSE },
      { kind: 'execute', call: { ...call, attempt }, attempt },
      { kind: 'reconcile', call: { ...call, attempt } },
    ]),
  ]),
];

test('two pieces of work are the same exactly where they have one name', () => {
  const all = works();
  const names = new Set(all.map(workName));
  // Some of them are twice the same: an attempt to start and under way, a call before and after its preview.
  expect(names.size).toBeGreaterThan(20);
  expect(names.size).toBeLessThan(all.length);
  for (const one of all)
    for (const other of all)
      expect(isSameWork(one, other), `${workName(one)} and ${workName(other)}`).toBe(
        workName(one) === workName(other),
      );
});
