/** A log as the row of its parts: a fork's is its parent's up to a seq, and its own behind it. */

/** What a session has stored under its own name: from the seq behind the fork's place, or from 1. */
export type OwnPart = { readonly parent: number | null; readonly fork_seq: number | null };

export type Part = {
  readonly id: number;
  readonly from: number;
  /** The last seq that counts; what this session appended later is its own alone. */
  readonly to: number;
};

/** Oldest part first. `ownPart` answers for one session by its row's id. */
export const partsOf = (id: number, ownPart: (id: number) => OwnPart | undefined): readonly Part[] => {
  const parts: Part[] = [];
  let to = Number.MAX_SAFE_INTEGER;
  for (let at: number | null = id; at !== null;) {
    const { parent, fork_seq: seq }: OwnPart = ownPart(at) ?? { parent: null, fork_seq: null };
    const before: number = parent === null ? 0 : (seq ?? 0);
    // A fork of a fork may leave within the part that the two already share.
    if (to > before) parts.unshift({ id: at, from: before + 1, to });
    to = Math.min(to, before);
    at = parent;
  }
  return parts;
};
