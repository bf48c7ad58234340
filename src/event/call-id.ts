/**
 * Calls are known by turn, step and index, all counted from 1: "3.7.2". The provider's ids are labels: they
 * repeat within real sessions. An inner call, one that a call made, has its maker's id and an ordinal: "3.7.2.1".
 */
export type CallId = `${number}.${number}.${number}` | `${number}.${number}.${number}.${number}`;

export type CallPosition = {
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  /** Of an inner call: which of its maker's calls it is, from 1. */
  readonly inner?: number;
};

export const callId = (turn: number, step: number, index: number): CallId => `${turn}.${step}.${index}`;

export const innerCallId = (maker: CallId, inner: number): CallId => {
  const { turn, step, index } = callPosition(maker);
  return `${turn}.${step}.${index}.${inner}`;
};

export const callPosition = (id: CallId): CallPosition => {
  const [turn, step, index, inner] = numbersOf(id);
  return inner === undefined ? { turn, step, index } : { turn, step, index, inner };
};

type Numbers = readonly [turn: number, step: number, index: number, inner?: number];

/** Read digit by digit: each event about a call asks for its place several times. */
const numbersOf = (id: CallId): Numbers => {
  const numbers: [number, number, number, number] = [0, 0, 0, 0];
  let place = 0;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    if (code === DOT) place++;
    else numbers[place] = (numbers[place] ?? 0) * 10 + code - ZERO;
  }
  const [turn, step, index, inner] = numbers;
  return place === 3 ? [turn, step, index, inner] : [turn, step, index];
};

const DOT = 0x2e;
const ZERO = 0x30;

/** The call that made this one; undefined for a call of the model. */
export const makerOf = (id: CallId): CallId | undefined => {
  let dots = 0;
  for (let at = 0; at < id.length; at++)
    if (id.charCodeAt(at) === DOT && ++dots === 3) return id.slice(0, at) as CallId;
  return undefined;
};

export const isCallId = (text: string): text is CallId =>
  /^[1-9]\d{0,8}\.[1-9]\d{0,8}\.[1-9]\d{0,8}(\.[1-9]\d{0,8})?$/.test(text);
