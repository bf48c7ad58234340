/**
 * Reads a bundle whole and says of each line whether it is where and what it has to be. What the events and blobs
 * prove is verify's business; both together are what import asks for.
 */
import { createHash } from 'node:crypto';
import { badInput, OnrecordError } from '../errors.ts';
import { canonical, sha256, type Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type { Json } from '../event/json.ts';
import { isDigest } from '../replay/named-blobs.ts';
import type { Finding, Removed } from '../replay/verify.ts';
import {
  BLOB_BYTES_MAX,
  BUNDLE_MAGIC,
  BUNDLE_VERSION,
  EVENT_BYTES_MAX,
  EVENTS_MAX,
  manifestLine,
  parsed,
  parseLine,
  type BundleLine,
  type DefinitionEntry,
  type Manifest,
  type Trailer,
} from './format.ts';
import { byteLines } from './lines.ts';

export type Bundle = {
  readonly manifest: Manifest;
  readonly events: readonly StoredEvent[];
  readonly blobs: ReadonlyMap<Digest, Uint8Array>;
  readonly removed: Removed;
  /** What of the file itself is wrong: lines, order, trailer. */
  readonly findings: readonly Finding[];
};

/** Throws `bundle-invalid` for what is no bundle, `bundle-too-new`, `bundle-limit`. */
export const readBundle = async (chunks: AsyncIterable<Uint8Array>): Promise<Bundle> => {
  let reader: Reader | undefined;
  let number = 0;
  for await (const { bytes, ended } of byteLines(chunks)) {
    number++;
    const text = decoded(bytes);
    if (!reader) reader = new Reader(manifestOf(text ?? ''), bytes);
    else if (ended) reader.line(number, text, bytes);
    if (!ended) reader.find(`Line ${number} is cut: no line feed ends it.`);
  }
  if (!reader) throw invalid('the file is empty');
  return reader.end();
};

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return UTF8.decode(bytes);
  } catch {
    // A finding of the line.
    return undefined;
  }
};

const invalid = (why: string): OnrecordError =>
  badInput('bundle-invalid', `This is no bundle: ${why}. Bundles are written by onrecord export.`);

const manifestOf = (line: string): Manifest => {
  const [, version] = /^\{"bundle":(\d{1,9}),/.exec(line) ?? [];
  if (!line.startsWith(BUNDLE_MAGIC) || version === undefined)
    throw invalid(`it does not begin with ${BUNDLE_MAGIC}`);
  if (Number(version) > BUNDLE_VERSION)
    throw new OnrecordError(
      `This bundle was written by a newer Onrecord. It has format ${version}; this program reads up to ${BUNDLE_VERSION}. Update the program.`,
      { code: 'bundle-too-new', next: 'ask-a-person', details: { format: Number(version) } },
    );
  const { session, definitions, removed } = parsed(line) ?? {};
  if (typeof session !== 'string' || !Array.isArray(definitions) || !definitions.every(isDefinition))
    throw invalid('its first line lacks the session or the definitions');
  const rules =
    Array.isArray(removed) && removed.every((rule) => typeof rule === 'string') ? removed : undefined;
  const manifest = { session, definitions, ...(rules && { removed: rules }) };
  if (manifestLine(manifest) !== line)
    throw invalid('its first line is not spelled as this program spells it');
  return manifest;
};

const isDefinition = (value: unknown): value is DefinitionEntry => {
  const { agent, digest, seq } = (value ?? {}) as Record<string, unknown>;
  return typeof agent === 'string' && isDigest(digest) && typeof seq === 'number';
};

class Reader {
  readonly #manifest: Manifest;
  readonly #hash = createHash('sha256');
  readonly #events: StoredEvent[] = [];
  readonly #blobs = new Map<Digest, Uint8Array>();
  readonly #removedData = new Map<number, Digest>();
  readonly #removedBlobs = new Set<Digest>();
  readonly #findings: Finding[] = [];
  /** Lines of events, those that cannot be read among them. */
  #lines = 0;
  #trailer: Trailer | undefined;
  #digest: Digest | undefined;

  constructor(manifest: Manifest, bytes: Uint8Array) {
    this.#manifest = manifest;
    this.#hash.update(bytes).update('\n');
  }

  find(message: string, seq = 0): void {
    this.#findings.push({ seq, kind: 'bundle', message });
  }

  line(number: number, text: string | undefined, bytes: Uint8Array): void {
    if (this.#trailer) return this.find(`Line ${number} stands behind the end of the bundle.`);
    const line = text === undefined ? undefined : parseLine(text);
    if (line?.kind === 'end') {
      this.#trailer = line.trailer;
      this.#digest = this.#hash.digest('hex') as Digest;
      return;
    }
    this.#hash.update(bytes).update('\n');
    if (!line) return this.find(`Line ${number} is none that a bundle holds.`);
    this.#take(number, line);
  }

  end(): Bundle {
    this.#checkTrailer();
    return {
      manifest: this.#manifest,
      events: this.#events,
      blobs: this.#blobs,
      removed: { data: this.#removedData, blobs: this.#removedBlobs },
      findings: this.#findings,
    };
  }

  #take(number: number, line: Exclude<BundleLine, { kind: 'end' }>): void {
    switch (line.kind) {
      case 'event':
      case 'removed-event':
        return this.#event(number, line);
      case 'blob':
        if (line.bytes.length > BLOB_BYTES_MAX)
          throw badInput('bundle-limit', `Line ${number} holds a blob of ${line.bytes.length} bytes.`);
        if (sha256(line.bytes) !== line.digest)
          this.find(`Line ${number} holds other bytes than blob ${line.digest}.`);
        return this.#blob(number, line.digest, () => this.#blobs.set(line.digest, line.bytes));
      case 'removed-blob':
        return this.#blob(number, line.digest, () => this.#removedBlobs.add(line.digest));
      default:
        return line satisfies never;
    }
  }

  #event(number: number, line: Extract<BundleLine, { kind: 'event' | 'removed-event' }>): void {
    const { body, hash } = line;
    if (Buffer.byteLength(body) > EVENT_BYTES_MAX || this.#events.length >= EVENTS_MAX)
      throw badInput('bundle-limit', `Line ${number} is over the limits of an event.`);
    if (this.#blobs.size + this.#removedBlobs.size > 0)
      this.find(`Line ${number}: an event stands behind a blob.`);
    this.#lines++;
    const seq = seqIn(body);
    if (seq === undefined)
      return this.find(`Line ${number} holds an event that is not in canonical form.`, this.#lines);
    if (seq !== this.#lines)
      this.find(`Line ${number} holds event ${seq}; event ${this.#lines} belongs there.`, seq);
    this.#events.push({ seq, hash, body });
    if (line.kind !== 'removed-event') return;
    if (!this.#manifest.removed)
      this.find(`Line ${number} lost its data, and the manifest names no rule for that.`, seq);
    this.#removedData.set(seq, line.data);
  }

  #blob(number: number, digest: Digest, keep: () => void): void {
    if (this.#blobs.has(digest) || this.#removedBlobs.has(digest))
      this.find(`Line ${number}: blob ${digest} stands twice.`);
    keep();
  }

  #checkTrailer(): void {
    const end = this.#trailer;
    if (!end) return this.find('The end of the bundle is missing: the file was cut off.');
    const blobs = this.#blobs.size + this.#removedBlobs.size;
    if (end.events !== this.#lines || end.blobs !== blobs)
      this.find(
        `The end says ${end.events} events and ${end.blobs} blobs; there are ${this.#lines} and ${blobs}.`,
      );
    if (end.head !== this.#events.at(-1)?.hash) this.find('The end names another head than the last event.');
    if (end.sha256 !== this.#digest)
      this.find('The lines have another digest than the end says: bytes were changed.');
  }
}

/** The place that a body gives itself; undefined where it is not in the one form that the runtime writes. */
const seqIn = (body: string): number | undefined => {
  const value = parsed(body) as Readonly<Record<string, Json>> | undefined;
  const seq = value?.['seq'];
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq)) return undefined;
  try {
    return canonical(value) === body ? seq : undefined;
  } catch {
    // Numbers or depths that no event has.
    return undefined;
  }
};
