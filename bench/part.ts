/** A part of the benchmark: measures something and says it in a table. */
import type { Table } from './table.ts';

export type Plan = {
  /** Steps of the measured sessions. */
  readonly steps: readonly number[];
  readonly rounds: number;
  /** A folder on the disk that is to be measured. */
  readonly scratch: string;
  /** Says what is going on. */
  readonly progress: (what: string) => void;
};

export type Measured = {
  readonly tables: readonly Table[];
  /** All that was measured, for programs. */
  readonly data: object;
};
