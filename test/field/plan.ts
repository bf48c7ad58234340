import type { GivenCase } from './given.ts';

/** How one case is tried: builds what it names from real parts, and holds the outcome against what it expects. */
export type Plan = (given: GivenCase) => Promise<void>;
