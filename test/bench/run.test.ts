/** The benchmark itself: it measures what it says, tidies up, and says what it does not understand. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../bench/machine.ts';
import { PARTS, readOptions } from '../../bench/options.ts';
import { drawn, type Plot } from '../../bench/plot.ts';
import { readResults, saveResults, type PartResult } from '../../bench/results.ts';
import { alternate, pairedRatios, spreadOf } from '../../bench/sample.ts';
import { asMarkdown, figure } from '../../bench/table.ts';
import { tempFolder } from '../kit/folder.ts';

const RUN = join(import.meta.dirname, '..', '..', 'bench', 'run.ts');
const RUN_TIMEOUT_MS = 600_000;
/** A refusal takes a start of Node; whoever measures instead is ended. */
const REFUSAL_MS_MAX = 60_000;

const bench = (args: readonly string[], cwd: string): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [RUN, ...args], { cwd, encoding: 'utf8' });

type Step = { readonly ms: number; readonly cpuMs: number; readonly bytes: number; readonly commits: number };
type Way = { readonly cpuMs: number; readonly inside?: { readonly events: number } };
type Data = {
  readonly steps: {
    readonly data: {
      readonly measured: readonly { readonly floor: readonly Step[]; readonly product: readonly Step[] }[];
    };
  };
  readonly opening: {
    readonly data: readonly { readonly opened: Readonly<Record<string, readonly Way[]>> }[];
  };
};

describe('the benchmark', () => {
  it(
    'measures product and floor in the same run and leaves nothing behind',
    () => {
      const folder = tempFolder();
      const stores = join(folder, 'stores');
      mkdirSync(stores);
      const args = [
        '--steps',
        '4',
        '--reps',
        '1',
        '--parts',
        'steps,opening',
        '--folder',
        stores,
        '--json',
        'out.json',
      ];
      const { status, stdout, stderr } = bench(args, folder);
      expect(stderr).not.toContain('Error');
      expect(status).toBe(0);
      expect(stdout).toContain('Time of a step');
      expect(readdirSync(stores)).toEqual([]);
      expect(readdirSync(folder).toSorted()).toEqual(['out.json', 'stores']);

      const { steps, opening } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as Data;
      const [measured] = steps.data.measured;
      expect(measured?.product).toHaveLength(1);
      expect(measured?.floor).toHaveLength(2);
      for (const one of [...(measured?.product ?? []), ...(measured?.floor ?? [])]) {
        expect(one.commits).toBe(2);
        expect(Math.min(one.ms, one.cpuMs, one.bytes)).toBeGreaterThan(0);
      }
      // Every way to come back sees the same log: session, turn, first request, and five events for each of 4 steps.
      const opened = opening.data[0]?.opened ?? {};
      const seen = ['rows', 'state', 'replay', 'verify'].map((way) => opened[way]?.[0]?.inside?.events);
      expect(seen).toEqual([23, 23, 23, 23]);
      for (const [run] of Object.values(opened)) expect(run?.cpuMs).toBeGreaterThan(0);
    },
    RUN_TIMEOUT_MS,
  );

  it('measures all of its page where the others are asked for, and its own parts where they are not', () => {
    expect(readOptions(['--vs']).parts).toEqual(PARTS);
    expect(readOptions([]).parts).toEqual(PARTS.filter((name) => name !== 'peers'));
    expect(readOptions(['--vs', '--parts', 'peers']).parts).toEqual(['peers']);
  });

  it(
    'says that the others cannot be measured before it measures anything',
    () => {
      // As a checkout with nothing beside it: only the benchmark itself looks around from where it lies.
      const copy = tempFolder();
      cpSync(join(RUN, '..'), join(copy, 'project', 'bench'), { recursive: true });
      for (const part of ['src', 'test', 'package.json', 'node_modules'])
        symlinkSync(join(RUN, '../..', part), join(copy, 'project', part));
      const run = join(copy, 'project', 'bench', 'run.ts');
      const { status, stdout, stderr } = spawnSync(process.execPath, [run, '--vs'], {
        encoding: 'utf8',
        timeout: REFUSAL_MS_MAX,
      });
      expect(stderr).toContain('their harness is not beside this checkout');
      expect(stderr).not.toContain('measuring');
      expect([status, stdout]).toEqual([2, '']);
    },
    RUN_TIMEOUT_MS,
  );

  it.each([
    [['--steps', '10,none'], '--steps "none" is no whole number'],
    [['--reps', '0'], '--reps "0" is no whole number'],
    [['--parts', 'steps,sleep'], '--parts "sleep" is none of'],
    [['--stpes', '3'], '--stpes'],
    [['steps'], '"steps" is no option'],
  ])(
    'refuses %j with a sentence and measures nothing',
    (args, words) => {
      const { status, stdout, stderr } = bench(args, tempFolder());
      expect(status).toBe(2);
      expect(stderr).toContain(words);
      expect(stderr).toContain('npm run bench');
      expect(stdout).toBe('');
    },
    RUN_TIMEOUT_MS,
  );
});

const MACHINE: Machine = {
  program: 'onrecord',
  node: '26',
  sqlite: '3',
  system: 'Linux',
  processor: 'two',
  memoryGb: 1,
  fileSystem: 'ext4',
  load: 0.5,
};

const GROWTH: Plot = {
  name: 'growth',
  title: 'Time < space',
  x: 'steps',
  y: 'ms',
  series: [
    {
      name: 'one',
      points: [
        [10, 1],
        [1000, 2],
      ],
    },
    {
      name: 'other',
      points: [
        [10, 2],
        [1000, 200],
      ],
    },
  ],
};

const partOf = (title: string, day: string, plots: readonly Plot[] = []): PartResult => ({
  command: `npm run bench -- ${title}`,
  day,
  machine: MACHINE,
  tables: [{ title, columns: ['', 'ms'], rows: [['one', day]], note: 'N.' }],
  plots,
  data: {},
});

describe('saved results', () => {
  it('of one part leave the other parts as they were measured', () => {
    const folder = tempFolder();
    saveResults(folder, {
      steps: partOf('Steps', '2026-01-01', [GROWTH]),
      many: partOf('Many', '2026-01-02'),
    });
    saveResults(folder, { many: partOf('Many', '2026-01-03') });
    const page = readFileSync(join(folder, 'RESULTS.md'), 'utf8');
    expect(page).toContain('### Steps');
    expect(page).toContain('`npm run bench -- Steps` on 2026-01-01');
    expect(page).toContain('2026-01-03');
    expect(page).not.toContain('2026-01-02');
    expect(page).toContain('![Time < space](plots/growth.svg)');
    expect(Object.keys(readResults(folder))).toEqual(['steps', 'many']);
    expect(readdirSync(join(folder, 'plots'))).toEqual(['growth.svg']);
    saveResults(folder, { steps: partOf('Steps', '2026-01-04') });
    expect(readdirSync(join(folder, 'plots'))).toEqual([]);
  });

  it('are drawn within their frame, by factors where that is asked for', () => {
    for (const plot of [GROWTH, { ...GROWTH, logY: true }]) {
      const svg = drawn(plot);
      expect(svg).toContain('Time &lt; space');
      const places = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) =>
        [x, y].map(Number),
      );
      expect(places).toHaveLength(4);
      for (const [x = 0, y = 0] of places) {
        expect(x).toBeGreaterThanOrEqual(72);
        expect(x).toBeLessThanOrEqual(520);
        expect(y).toBeGreaterThanOrEqual(40);
        expect(y).toBeLessThanOrEqual(308);
      }
    }
  });
});

describe('numbers from repetitions', () => {
  it('have a middle, a least and a greatest', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it('are taken in turns and compared with both neighbours', async () => {
    const order: string[] = [];
    let next = 0;
    const take = (name: string) => async (): Promise<number> => {
      order.push(name);
      return ++next;
    };
    const { a, b } = await alternate(2, take('a'), take('b'));
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(pairedRatios(a, b)).toEqual([2 / 2, 4 / 4]);
    expect(pairedRatios([1, 3, 5], [4, 12])).toEqual([2, 3]);
  });

  it('are shown with the digits that they hold', () => {
    expect([0.1234, 12.34, 1234.5].map(figure)).toEqual(['0.12', '12.3', '1,235']);
    const page = asMarkdown({ title: 'T', columns: ['', 'ms'], rows: [['one', '1.00']], note: 'N.' });
    expect(page).toBe(
      ['### T', '', '|     |   ms |', '| --- | ---: |', '| one | 1.00 |', '', 'N.'].join('\n'),
    );
  });
});
