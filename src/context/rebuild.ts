/** An exact request again, from the record alone: no adapter, no agent code. */
import { OnrecordError } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { EventData, LogEvent, PartTemplate } from '../event/events.ts';
import { CHAIN_START, chainNode } from './prefix-chain.ts';
import { expandTemplate } from './template.ts';

export type RebuiltRequest = {
  readonly head: string;
  readonly tail: string;
  readonly parts: readonly { readonly seq: number; readonly text: string }[];
  readonly body: string;
};

export type RebuildSource = {
  /** Any event of the session by seq. */
  readonly eventAt: (seq: number) => LogEvent | undefined;
  readonly blob: (digest: Digest) => Promise<Uint8Array | undefined>;
  /** The frame of a request, where it is known: else the requests before it are walked until one has it. */
  readonly frameAt?: (seq: number) => Frame | undefined;
};

/** Digests of the bytes before the first part and after the last. */
export type Frame = { readonly head: Digest; readonly tail: Digest };

/** Throws `request-not-found`, and `request-damaged` where the bytes do not prove themselves. */
export const rebuildRequest = async (source: RebuildSource, seq: number): Promise<RebuiltRequest> => {
  const data = requestAt(source, seq);
  const templates = templatesOf(source, seq);
  const parts = templates.map(({ seq: from, pieces }) => ({
    seq: from,
    text: expandTemplate(pieces, source.eventAt),
  }));
  let chain = CHAIN_START;
  for (const part of parts) chain = chainNode(chain, part.text);
  const frame = frameOf(source, seq);
  const head = await frameText(source, frame.head, seq);
  const tail = await frameText(source, frame.tail, seq);
  const body = head + parts.map((part) => part.text).join(',') + tail;
  if (chain !== data.chain || Buffer.byteLength(body) !== data.bytes) throw damaged(seq, 'its parts');
  return { head, tail, parts, body };
};

export type WalkedRequest = {
  readonly seq: number;
  readonly head: string;
  readonly tail: string;
  readonly parts: readonly string[];
  /** The event that each part stands for. */
  readonly seqs: readonly number[];
  /** Parts at the beginning that are those of the request before. */
  readonly kept: number;
};

/** Every request of a session in order, each put together from the one before it. Throws `request-damaged`. */
export async function* rebuildAll(
  events: readonly LogEvent[],
  blob: RebuildSource['blob'],
): AsyncGenerator<WalkedRequest, void, undefined> {
  const source: RebuildSource = { eventAt: (seq) => events[seq - 1], blob };
  let last: WalkedRequest | undefined;
  for (const event of events) {
    if (event.type !== 'request.built') continue;
    const { reuse, parts, frame } = event.data;
    if (reuse && reuse.request !== last?.seq) throw damaged(event.seq, 'the request it builds on');
    const kept = reuse?.parts ?? 0;
    const request: WalkedRequest = {
      seq: event.seq,
      head: frame ? await frameText(source, frame.head, event.seq) : (last?.head ?? ''),
      tail: frame ? await frameText(source, frame.tail, event.seq) : (last?.tail ?? ''),
      parts: [
        ...(last?.parts.slice(0, kept) ?? []),
        ...parts.map((part) => expandTemplate(part.pieces, source.eventAt)),
      ],
      seqs: [...(last?.seqs.slice(0, kept) ?? []), ...parts.map((part) => part.seq)],
      kept,
    };
    yield request;
    last = request;
  }
}

const requestAt = (source: RebuildSource, seq: number): EventData['request.built'] => {
  const event = source.eventAt(seq);
  if (event?.type === 'request.built') return event.data;
  throw new OnrecordError(`Event ${seq} is no request.`, {
    code: 'request-not-found',
    next: 'fix-input',
    details: { seq },
  });
};

/** Walks back along `reuse`; each request stores only what it added. */
const templatesOf = (source: RebuildSource, seq: number): readonly PartTemplate[] => {
  const pieces: (readonly PartTemplate[])[] = [];
  let wanted = Infinity;
  for (let at: number | undefined = seq; at !== undefined && wanted > 0;) {
    const { reuse, parts }: EventData['request.built'] = requestAt(source, at);
    const before = reuse?.parts ?? 0;
    if (wanted > before) pieces.push(parts.slice(0, wanted - before));
    wanted = Math.min(wanted, before);
    at = reuse?.request;
  }
  return pieces.toReversed().flat();
};

const frameOf = (source: RebuildSource, seq: number): Frame => {
  const known = source.frameAt?.(seq);
  if (known) return known;
  for (let at: number | undefined = seq; at !== undefined;) {
    const { frame, reuse }: EventData['request.built'] = requestAt(source, at);
    if (frame) return frame;
    at = reuse?.request;
  }
  throw damaged(seq, 'its frame');
};

const frameText = async (source: RebuildSource, digest: Digest, seq: number): Promise<string> => {
  const bytes = await source.blob(digest);
  if (!bytes || sha256(bytes) !== digest) throw damaged(seq, `its frame ${digest}`);
  return Buffer.from(bytes).toString('utf8');
};

const damaged = (seq: number, what: string): OnrecordError =>
  new OnrecordError(
    `Request ${seq} cannot be rebuilt: ${what} do not match the record. Run onrecord verify.`,
    {
      code: 'request-damaged',
      next: 'corrupt',
      details: { seq },
    },
  );
