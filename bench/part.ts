/** A part of the benchmark: measures something and says it in a table. */
import type { Plot } from './plot.ts';
import type { Table } from './table.ts';

export type Plan = {
  /** Steps of the measured sessions. */
  readonly steps: readonly number[];
  readonly rounds: number;
  /** A folder on the disk that is to be measured. */
  readonly scratch: string;
  /** Says what is going on. */
  readonly progress: (what: string) => void;
  /** Handed on to the harness of the peers as it is. */
  readonly peers: readonly string[];
};

export type Measured = {
  readonly tables: readonly Table[];
  readonly plots?: readonly Plot[];
  /** All that was measured, for programs. */
  readonly data: object;
};
