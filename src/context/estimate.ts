/** Tokens of bytes: an estimate, calibrated on the last request that its provider counted. */
import type { Counted } from '../session/state.ts';

/** Before anything was counted: what English text and JSON come to, roughly, for all providers. */
const TOKENS_PER_BYTE_GUESS = 0.25;

export const tokensPerByte = (counted: Counted | undefined): number =>
  counted && counted.bytes > 0 ? counted.tokens / counted.bytes : TOKENS_PER_BYTE_GUESS;

export const estimateTokens = (bytes: number, counted: Counted | undefined): number =>
  Math.round(bytes * tokensPerByte(counted));
