/** What an approval is bound to: a digest over everything that decides what will happen. */
import type { CallId } from '../event/call-id.ts';
import { digestOf, type Digest } from '../event/canonical.ts';
import type { Json } from '../event/json.ts';

export type Approvable = {
  readonly session: string;
  readonly call: CallId;
  /** Digest of the tool's definition. */
  readonly definition: Digest;
  /** Canonical arguments. */
  readonly args: string;
  /** Digest of the preview that is shown, and what the tool bound it to. */
  readonly preview: Digest | null;
  readonly base: Json;
  /** How often this call was asked about; a fresh question is a new digest. */
  readonly round: number;
};

export const approvalDigest = (approvable: Approvable): Digest => digestOf({ ...approvable });
