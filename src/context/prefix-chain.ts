/**
 * The prefix chain: node(k) = SHA-256(node(k-1) || SHA-256(part k)). Two requests whose nodes are equal at k
 * share their first k parts byte for byte, and a step only adds nodes for what is new.
 */
import { sha256, type Digest } from '../event/canonical.ts';

export const CHAIN_START: Digest = sha256('onrecord/1 prefix chain');

export const chainNode = (previous: Digest, part: string): Digest => chainLink(previous, sha256(part));

/** The node of a part that is known by its digest. */
export const chainLink = (previous: Digest, part: Digest): Digest => sha256(previous + part);
