/**
 * Anchors: the heads of sessions, written down outside the store. A chain proves that nothing in it was changed, not
 * that it was not written anew or cut at its end; a head that was kept elsewhere does.
 *
 * The file is one JSON object. With an Ed25519 key (RFC 8032) it is signed over its own canonical text without the
 * member `signature`.
 */
import { createPublicKey, sign, verify as verifySignature, type KeyObject } from 'node:crypto';
import { badInput, OnrecordError } from '../errors.ts';
import { canonical, sha256, type Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../event/json.ts';
import type { LogStore } from '../log/store.ts';
import { isDigest } from './named-blobs.ts';
import type { Finding } from './verify.ts';

export const ANCHOR_VERSION = 1;
/** Bytes of an anchor file: about 200,000 heads. */
export const ANCHOR_BYTES_MAX: number = 32 * 1024 * 1024;

export type AnchoredHead = { readonly session: string; readonly seq: number; readonly hash: Digest };

export type Anchor = {
  readonly heads: readonly AnchoredHead[];
  /** Wall clock when it was written, milliseconds since 1970 UTC. */
  readonly at: number;
  /** The digest of the key (SPKI, DER) that signed it; absent where nobody did. */
  readonly signedBy?: Digest;
};

/** The file's text. `key` is an Ed25519 private key. */
export const anchorText = (heads: readonly AnchoredHead[], at: number, key?: KeyObject): string => {
  const sorted = heads.toSorted((a, b) => (a.session < b.session ? -1 : 1));
  const document: JsonObject = { anchor: ANCHOR_VERSION, at, heads: sorted };
  if (!key) return `${canonical(document)}\n`;
  const spki = spkiOf(createPublicKey(key));
  const signed: JsonObject = { ...document, key: spki.toString('base64') };
  const signature = sign(null, Buffer.from(canonical(signed)), key).toString('base64');
  return `${canonical({ ...signed, signature })}\n`;
};

/**
 * Reads an anchor and checks its signature, if it has one. With `publicKey` it has to be signed with that key.
 * Throws `anchor-invalid`, `anchor-too-new`, `anchor-unsigned`, `anchor-forged`.
 */
export const readAnchor = (text: string, publicKey?: KeyObject): Anchor => {
  const document = documentOf(text);
  const { anchor, at, heads, key, signature, ...rest } = document;
  if (typeof anchor === 'number' && anchor > ANCHOR_VERSION)
    throw new OnrecordError(
      `This anchor has format ${anchor}; this program reads up to ${ANCHOR_VERSION}. Update the program.`,
      { code: 'anchor-too-new', next: 'ask-a-person', details: { format: anchor } },
    );
  if (
    anchor !== ANCHOR_VERSION ||
    typeof at !== 'number' ||
    !Array.isArray(heads) ||
    Object.keys(rest).length > 0
  )
    throw invalid('it has not the members of one');
  const read = { heads: heads.map(headOf), at };
  if (typeof key !== 'string' && typeof signature !== 'string') {
    if (publicKey)
      throw new OnrecordError('The anchor is not signed, and a key was named that should have signed it.', {
        code: 'anchor-unsigned',
        next: 'corrupt',
      });
    return read;
  }
  const { signature: _, ...signed } = document;
  const signer = signerOf(key);
  const holds = verifySignature(null, Buffer.from(canonical(signed)), signer, base64(signature));
  const signedBy = sha256(spkiOf(signer));
  if (!holds) throw forged('The signature of the anchor does not fit what it says.');
  if (publicKey && sha256(spkiOf(publicKey)) !== signedBy)
    throw forged(`The anchor is signed with another key, whose digest is ${signedBy}.`);
  return { ...read, signedBy };
};

/** What of an anchor a store does not hold. `sessions`: only these. */
export const anchorFindings = async (store: LogStore, head: AnchoredHead): Promise<Finding | undefined> => {
  const { session, seq, hash } = head;
  const stored = await eventAt(store, session, seq);
  if (stored?.hash === hash) return undefined;
  const last = (await store.head(session).catch(() => undefined))?.seq ?? 0;
  const message =
    last === 0
      ? `Session ${session} is gone: event ${seq} with the hash ${hash} was anchored.`
      : last < seq
        ? `Event ${seq} was anchored; the log ends at event ${last}: its end was cut off.`
        : `Event ${seq} was anchored with the hash ${hash}; it has another one now: the log was written anew.`;
  return { seq, kind: 'anchor', message };
};

const eventAt = async (store: LogStore, session: string, seq: number): Promise<StoredEvent | undefined> => {
  try {
    return (await store.read(session, seq, seq))[0];
  } catch {
    // Gone or unreadable: either way it is not the event that was anchored.
    return undefined;
  }
};

/** One value has one spelling: base64 leaves bits free at its end, and Node reads more alphabets than one. */
const base64 = (text: Json | undefined): Buffer => {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64');
  if (bytes.toString('base64') !== text) throw invalid('its signature is no base64');
  return bytes;
};

const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }) as Buffer;

const invalid = (why: string): OnrecordError =>
  badInput('anchor-invalid', `This is no anchor: ${why}. Anchors are written by onrecord anchor.`);

const forged = (message: string): OnrecordError =>
  new OnrecordError(`${message} Do not trust it.`, { code: 'anchor-forged', next: 'corrupt' });

const documentOf = (text: string): JsonObject => {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalid('it is no JSON');
  }
  if (!isJsonObject(document)) throw invalid('it is no JSON object');
  // A member that stands twice, or white space, would be text that nobody has signed.
  if (`${canonical(document)}\n` !== text) throw invalid('it is not in canonical form, so it was changed');
  return document;
};

const headOf = (value: Json): AnchoredHead => {
  if (!isJsonObject(value)) throw invalid('a head is no object');
  const { session, seq, hash } = value;
  if (typeof session !== 'string' || typeof seq !== 'number' || !isDigest(hash))
    throw invalid('a head lacks its session, seq or hash');
  return { session, seq, hash };
};

const signerOf = (key: Json | undefined): KeyObject => {
  try {
    const signer = createPublicKey({
      key: Buffer.from(typeof key === 'string' ? key : '', 'base64'),
      type: 'spki',
      format: 'der',
    });
    if (signer.asymmetricKeyType === 'ed25519') return signer;
  } catch {
    // Said below: whatever it is, it is no such key.
  }
  throw invalid('its key is no Ed25519 key');
};
