/** Every situation of the field cases, each as a test of its own; what is not tried stands here with the reason. */
import { afterAll, describe, expect, test } from 'vitest';
import { CAN_MOUNT } from '../crash/children/disk.ts';
import { APPROVALS } from './approvals.ts';
import { DATA_TOOLS } from './data-tools.ts';
import { DURABILITY } from './durability.ts';
import { ABSENT, GIVEN } from './given.ts';
import { MACHINES } from './machines.ts';
import { MCP } from './mcp.ts';
import { MODEL_IO } from './model-io.ts';
import { NOT_COVERED } from './not-covered.ts';
import type { Plan } from './plan.ts';
import { POSTGRES } from './postgres.ts';
import { PROVIDERS } from './providers.ts';
import { SUITES } from './suites.ts';
import { NO_POSTGRES, ON_POSTGRES, onPostgres, stopPostgres } from './stores.ts';
import { SURFACES } from './surfaces.ts';
import { TOOLS } from './tools.ts';

const PLANS: Readonly<Record<string, Plan>> = {
  ...MODEL_IO,
  ...TOOLS,
  ...APPROVALS,
  ...DURABILITY,
  ...PROVIDERS,
  ...DATA_TOOLS,
  ...SURFACES,
  ...SUITES,
  ...MCP,
  ...POSTGRES,
  ...MACHINES,
};

const cases = GIVEN ?? [];
// A case may have a plan that this machine cannot try.
const planOf = (id: string): Plan | undefined => (NOT_COVERED[id] === undefined ? PLANS[id] : undefined);
const tried = cases.flatMap((given) => {
  const plan = planOf(given.id);
  return plan ? [{ ...given, play: () => plan(given) }] : [];
});
const left = cases.filter(({ id }) => !planOf(id));
/** Ends a hopeless wait: some cases start a dozen processes, one plays programs that use up all they may. */
const CASE_MS = 240_000;

const onBoth = tried.filter(({ id }) => ON_POSTGRES[id] !== undefined);

afterAll(stopPostgres);

describe('field cases', () => {
  test.each(tried)(
    '$id $kind: $title',
    async ({ play }) => {
      await expect(play()).resolves.toBeUndefined();
    },
    CASE_MS,
  );

  test.skipIf(NO_POSTGRES !== undefined).each(onBoth)(
    `$id on PostgreSQL${NO_POSTGRES === undefined ? '' : ` (${NO_POSTGRES})`}`,
    async ({ id, ...given }) => {
      const on = await onPostgres(ON_POSTGRES[id] ?? 1);
      await expect(PLANS[id]?.({ ...given, id, on })).resolves.toBeUndefined();
    },
    CASE_MS,
  );

  test.skipIf(!GIVEN)(`every case is tried, or not for a reason${GIVEN ? '' : ` (${ABSENT})`}`, () => {
    const words = left.map(({ id, title }) => `  ${id} ${title}: ${NOT_COVERED[id] ?? 'NO REASON'}`);
    console.info([`field cases: ${tried.length} of ${cases.length} tried; not tried:`, ...words].join('\n'));
    expect(left.filter(({ id }) => NOT_COVERED[id] === undefined).map(({ id }) => id)).toEqual([]);
    const unable = [
      ...(CAN_MOUNT ? [] : ['FC-87']),
      ...(NO_POSTGRES === undefined ? [] : Object.keys(POSTGRES)),
    ];
    expect(
      Object.keys(NOT_COVERED)
        .filter((id) => PLANS[id])
        .toSorted(),
    ).toEqual(unable.toSorted());
  });
});
