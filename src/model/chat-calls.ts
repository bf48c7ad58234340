/**
 * Tool calls of a streamed chat reply, joined from their pieces. The standard joins by `index`. Servers are known to
 * leave it out, to give all calls the same one, to send a new id with every piece, and to repeat the name.
 */
import type { ChatCall } from './chat-reply.ts';

export type CallPiece = {
  readonly index?: number;
  readonly id: string;
  readonly name: string;
  /** Argument text as it came. */
  readonly args: string;
  readonly extra: ReadonlyMap<string, string>;
};

type Slot = { id: string; name: string; args: string; readonly extra: Map<string, string> };

export class ChatCalls {
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, number>();

  get all(): readonly ChatCall[] {
    return this.#slots;
  }

  /** A whole call, as a reply that is not streamed has it. */
  add({ id, name, args, extra }: CallPiece): void {
    this.#slots.push({ id, name, args, extra: new Map(extra) });
  }

  /** Joins a piece to its call. The number of that call, from 0. */
  join(piece: CallPiece): number {
    const at = this.#place(piece);
    const slot = this.#slots[at];
    if (piece.index !== undefined) this.#byIndex.set(piece.index, at);
    if (!slot) {
      this.add(piece);
      return at;
    }
    if (slot.id === '') slot.id = piece.id;
    if (slot.name === '') slot.name = piece.name;
    // An empty object that is followed by more was a placeholder.
    slot.args = slot.args === '{}' && piece.args.trim() !== '' ? piece.args : slot.args + piece.args;
    for (const [key, value] of piece.extra) slot.extra.set(key, value);
    return at;
  }

  #place(piece: CallPiece): number {
    const fresh = this.#slots.length;
    const known =
      piece.index === undefined
        ? piece.id === ''
          ? fresh - 1
          : this.#slots.findLastIndex(({ id }) => id === piece.id)
        : this.#byIndex.get(piece.index);
    const slot = this.#slots[known ?? fresh];
    return known === undefined || !slot || startsAnother(slot, piece) ? fresh : known;
  }
}

/** Whether a piece with a name begins a new call, although it bears the number or id of one that is there. */
const startsAnother = (slot: Slot, { index, id, name, args }: CallPiece): boolean => {
  if (name === '' || slot.name === '') return false;
  if (index !== undefined && (id === '' || id === slot.id)) return false;
  if (slot.args === '') return index === undefined && (name !== slot.name || args === '');
  return isWhole(slot.args);
};

const isWhole = (args: string): boolean => {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
};
