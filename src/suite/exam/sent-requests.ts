/** The exact requests of a run, rebuilt from its record: what a model was asked before it did what it did. */
import { rebuildRequest } from '../../context/rebuild.ts';
import { sha256, type Digest } from '../../event/canonical.ts';
import type { Playing } from './play.ts';

/** Bytes of the bodies that one report keeps; what comes after is known by its digest. */
export const BODIES_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes of one body that is kept. */
export const BODY_BYTES_MAX: number = 256 * 1024;

export type SentRequest = {
  /** Of its event. */
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly bytes: number;
  /** SHA-256 of the body. */
  readonly digest: Digest;
  /** Kept for pages alone. */
  readonly body?: string;
};

/** What a report still has room for. */
export type Room = { bytes: number };

export const sentRequests = async ({ events, log }: Playing, room: Room): Promise<readonly SentRequest[]> => {
  const source = {
    eventAt: (seq: number) => events[seq - 1],
    blob: (digest: Digest) => log.blob(digest),
  };
  const sent: SentRequest[] = [];
  for (const { type, data, seq } of events) {
    if (type !== 'request.built') continue;
    const { body } = await rebuildRequest(source, seq);
    const { turn, step, bytes } = data;
    const kept = bytes <= BODY_BYTES_MAX && bytes <= room.bytes;
    if (kept) room.bytes -= bytes;
    sent.push({ seq, turn, step, bytes, digest: sha256(body), ...(kept && { body }) });
  }
  return sent;
};
