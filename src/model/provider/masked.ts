/** A mask over values and bytes. What holds no secret comes back as it is. */
import type { SecretMask } from '../../secret/mask.ts';

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
