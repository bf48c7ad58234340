/** A mask over values, bytes and streamed text. What holds no secret comes back as it is. */
import type { SecretMask } from '../../secret/mask.ts';
import type { Delta } from '../model.ts';

/** Every text in a plain value, keys aside. */
export const maskJson = <T>(mask: SecretMask, value: T): T => {
  if (typeof value === 'string') return mask.apply(value) as T;
  if (Array.isArray(value)) return value.map((item) => maskJson(mask, item as unknown)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, maskJson(mask, member as unknown)]),
  ) as T;
};

/** Byte for byte but for the secret, whose forms are all ASCII. */
export const maskBytes = (mask: SecretMask, bytes: Uint8Array): Uint8Array =>
  mask.foundIn(bytes) ? Buffer.from(mask.apply(Buffer.from(bytes).toString('latin1')), 'latin1') : bytes;

/**
 * A mask over text that comes in pieces, between which a secret may be split. A piece whose end may be the beginning
 * of one waits for the next, or for the end.
 */
export class MaskedDeltas {
  readonly #mask: SecretMask;
  readonly #show: (delta: Delta) => void;
  #held: Delta | undefined;

  constructor(mask: SecretMask, show: (delta: Delta) => void) {
    this.#mask = mask;
    this.#show = show;
  }

  push(delta: Delta): void {
    if (this.#held && !isSameText(this.#held, delta)) this.end();
    const text = this.#mask.apply((this.#held?.text ?? '') + delta.text);
    const sure = text.length - this.#mask.unsureAtEnd(text);
    this.#held = sure < text.length ? { ...delta, text: text.slice(sure) } : undefined;
    if (sure > 0) this.#show({ ...delta, text: text.slice(0, sure) });
  }

  /** No more will come: what waited was no secret. */
  end(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#show(held);
  }
}

const isSameText = (a: Delta, b: Delta): boolean =>
  a.type === 'call-arguments' ? b.type === a.type && b.index === a.index : b.type === a.type;
