/** All recorded conversations through the runner of suites. */
import { expect, test } from 'vitest';
import { DATA_FOLDER, missingFiles } from '../../examples/airline/recording.ts';
import { onStage, ROOT } from '../cli/project.ts';

const missing = missingFiles(DATA_FOLDER);
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: all airline conversations as a suite: not found: ${missing.join(', ')}.\n`,
  );

test.skipIf(missing.length > 0)(
  'every recorded conversation ends in the recorded database',
  async () => {
    const { code, stdout } = await onStage(ROOT, {}, [
      'suite',
      'run',
      'examples/airline/conversations.ts',
      '--json',
    ]);
    const { runs } = JSON.parse(stdout) as {
      readonly runs: readonly { readonly scenario: string; readonly verdict: string }[];
    };
    expect(runs.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    expect([code, runs.length]).toEqual([0, 120]);
  },
  300_000,
);
