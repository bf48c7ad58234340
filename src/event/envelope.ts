/**
 * The stored form of an event and the chain over a session.
 *
 * body = canonical({at, data, seq, type, v}); hash = SHA-256(previous hash || SHA-256(data) || body without data).
 * So the digest can stand for the data where that was removed, and time, type and place still prove themselves.
 * The first event's previous hash is made from the session's id, so that a log cannot be passed off as another
 * session's.
 */
import { OnrecordError } from '../errors.ts';
import { canonicalForm, sha256, type Digest } from './canonical.ts';
import { isEventType, type LogEvent, type NewEvent } from './events.ts';
import type { Json } from './json.ts';
import { UPCASTS, upcast, versionOf, type Upcasts } from './upcasts.ts';

/** An event as a store keeps it. */
export type StoredEvent = {
  readonly seq: number;
  readonly hash: Digest;
  /** Canonical JSON, UTF-8. */
  readonly body: string;
};

/** What a body is put together from. */
export type BodyParts = {
  readonly data: string;
  readonly at: number;
  readonly type: string;
  readonly v: number;
};

/** An event that was sealed here: whoever keeps the parts of its body need not take the body apart again. */
class SealedEvent implements StoredEvent {
  readonly seq: number;
  readonly hash: Digest;
  readonly body: string;
  readonly #parts: BodyParts;

  constructor(seq: number, hash: Digest, body: string, parts: BodyParts) {
    this.seq = seq;
    this.hash = hash;
    this.body = body;
    this.#parts = parts;
  }

  static partsOf(event: StoredEvent): BodyParts | undefined {
    return #parts in event ? event.#parts : undefined;
  }
}

/** Undefined for an event that comes from elsewhere. */
export const sealedParts = (event: StoredEvent): BodyParts | undefined => SealedEvent.partsOf(event);

export const genesis = (session: string): Digest => sha256(`onrecord/1 ${session}`);

/** A body in two: its data, and the rest, which is `{"at":…,"data":,"seq":…,"type":…,"v":…}`. */
export type Parted = { readonly data: string; readonly shell: string };

const DATA_OPENS = '"data":';
/** The last of its kind in a body: behind the data only a number, a type and a version stand. */
const DATA_ENDS = ',"seq":';

/** Undefined for what is no body. Splitting adds and loses nothing: the shell says where the data was. */
export const partBody = (body: string): Parted | undefined => {
  const from = body.indexOf(DATA_OPENS) + DATA_OPENS.length;
  const to = body.lastIndexOf(DATA_ENDS);
  if (from < DATA_OPENS.length || to < from) return undefined;
  return { data: body.slice(from, to), shell: body.slice(0, from) + body.slice(to) };
};

/** The hash of an event whose data is known by its digest. */
export const linkHash = (prev: Digest, data: Digest, shell: string): Digest => sha256(prev + data + shell);

export const chainHash = (prev: Digest, body: string): Digest => {
  const parted = partBody(body);
  return parted ? linkHash(prev, sha256(parted.data), parted.shell) : sha256(prev + body);
};

/**
 * Gives an event its place: returns it with its stored form. The event that comes back is made with that form, so
 * that whoever writes it goes on with exactly the value that every later reader of the log will see.
 */
export const seal = (
  event: NewEvent,
  place: { readonly seq: number; readonly at: number; readonly prev: Digest },
): { readonly event: LogEvent; readonly stored: StoredEvent } => {
  const { seq, at, prev } = place;
  const { type } = event;
  const { text, value } = canonicalForm(event.data);
  // Keys stand in canonical order here, so only `data` has to be sorted. The names of types are plain words.
  const opening = `{"at":${at},"data":`;
  const v = versionOf(UPCASTS, type);
  const rest = `,"seq":${seq},"type":"${type}","v":${v}}`;
  const hash = linkHash(prev, sha256(text), opening + rest);
  const stored = new SealedEvent(seq, hash, opening + text + rest, { data: text, at, type, v });
  return { event: { type, data: value, seq, at } as LogEvent, stored };
};

type Envelope = { at: number; data: Json; seq: number; type: string; v: number };

/** Reads stored events with these upcasts. */
export const opener =
  (upcasts: Upcasts) =>
  (stored: StoredEvent): LogEvent => {
    let envelope: Envelope;
    try {
      envelope = JSON.parse(stored.body) as Envelope;
    } catch (cause) {
      throw unreadable(stored, 'is not JSON', cause);
    }
    const { at, data, seq, type, v } = envelope;
    if (seq !== stored.seq) throw unreadable(stored, `says seq ${seq}`);
    const whole = typeof at === 'number' && typeof type === 'string' && typeof v === 'number' && v >= 1;
    if (!whole || typeof data !== 'object' || data === null) throw unreadable(stored, 'lacks its envelope');
    if (!isEventType(type) || v > versionOf(upcasts, type)) throw tooNew(stored, envelope);
    return { type, data: upcast(upcasts, type, v, data), seq, at } as LogEvent;
  };

/** Reads a stored event. Throws `event-too-new` or `event-unreadable`. */
export const open: (stored: StoredEvent) => LogEvent = opener(UPCASTS);

const tooNew = ({ seq }: StoredEvent, { type, v }: Envelope): OnrecordError =>
  new OnrecordError(
    `Event ${seq} is "${type}" version ${v}, which this program does not know: a newer one wrote it. Here the ` +
      `session can be read up to event ${seq - 1}, and nothing is appended to it. Go on with the newer program.`,
    { code: 'event-too-new', next: 'ask-a-person', details: { seq, type, v } },
  );

const unreadable = (stored: StoredEvent, what: string, cause?: unknown): OnrecordError =>
  new OnrecordError(`Event ${stored.seq} of the log ${what}. The store is damaged: run onrecord verify.`, {
    code: 'event-unreadable',
    next: 'corrupt',
    details: { seq: stored.seq },
    cause,
  });
