/** Loaded before a measured program (--import): says at its end what the whole process has cost. */
import { writeFileSync } from 'node:fs';
import { cpuMs } from './probe.ts';

export type Cost = { readonly cpuMs: number; readonly peakMb: number };

/** The file that the cost is written to. */
export const COST_FILE = 'ONRECORD_BENCH_COST';

const file = process.env[COST_FILE];
if (file !== undefined)
  process.once('exit', () => {
    const cost: Cost = { cpuMs: cpuMs(), peakMb: process.resourceUsage().maxRSS / 1024 };
    writeFileSync(file, JSON.stringify(cost));
  });
