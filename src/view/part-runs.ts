/** The parts of a manifest as a list that stays short: what was left out in one stretch for one reason is one row. */
import type { ManifestPart } from './manifest.ts';

export type PartRun = {
  readonly kind: ManifestPart['kind'] | 'run';
  readonly state: ManifestPart['state'];
  readonly label: string;
  readonly reason: string;
  /** First and last event; absent for what stands around the conversation. */
  readonly from?: number;
  readonly to?: number;
  readonly count: number;
  readonly bytes: number;
  /** Estimate; null where nobody has counted. */
  readonly tokens: number | null;
  /** Whether its bytes begin the request before, too. */
  readonly same: boolean;
};

/** So many rows of what was left out stand alone before they become one. */
const ALONE_MAX = 3;

export const partRuns = (parts: readonly ManifestPart[]): readonly PartRun[] => {
  const runs: PartRun[] = [];
  let stretch: ManifestPart[] = [];
  const close = (): void => {
    if (stretch.length <= (stretch[0]?.kind === 'tool' ? 1 : ALONE_MAX)) runs.push(...stretch.map(alone));
    else runs.push(together(stretch));
    stretch = [];
  };
  for (const part of parts) {
    const [first] = stretch;
    if (first && !goesWith(first, part)) close();
    if (isGathered(part)) stretch.push(part);
    else runs.push(alone(part));
  }
  close();
  return runs;
};

/** Definitions of tools stand together always, what was left out where it is much. */
const isGathered = ({ kind, state }: ManifestPart): boolean =>
  kind === 'tool' || state === 'left-out' || state === 'summarised';

const goesWith = (one: ManifestPart, other: ManifestPart): boolean =>
  (one.kind === 'tool') === (other.kind === 'tool') &&
  one.state === other.state &&
  one.reason === other.reason &&
  (one.kind !== 'tool' || one.same === other.same);

const alone = ({ kind, state, label, reason, seq, bytes, tokens, same }: ManifestPart): PartRun => ({
  kind,
  state,
  label,
  reason,
  ...(seq !== undefined && { from: seq, to: seq }),
  count: 1,
  bytes,
  tokens,
  same,
});

const together = (parts: readonly ManifestPart[]): PartRun => {
  const [first] = parts;
  if (first?.kind === 'tool')
    return { ...alone(first), ...sums(parts), label: `${parts.length} tool definitions` };
  const turns = [first?.turn ?? 0, parts.at(-1)?.turn ?? 0];
  const seqs = parts.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  return {
    kind: 'run',
    state: first?.state ?? 'left-out',
    label: `${parts.length} parts of ${turns[0] === turns[1] ? `turn ${turns[0]}` : `turns ${turns[0]} to ${turns[1]}`}`,
    reason: first?.reason ?? '',
    ...(seqs.length > 0 && { from: Math.min(...bounds(seqs)), to: Math.max(...bounds(seqs)) }),
    ...sums(parts),
    same: false,
  };
};

const sums = (parts: readonly ManifestPart[]): Pick<PartRun, 'count' | 'bytes' | 'tokens'> => ({
  count: parts.length,
  bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
});

/** The parts stand in the order of the log. */
const bounds = (seqs: readonly number[]): readonly number[] => [seqs[0] ?? 0, seqs.at(-1) ?? 0];
