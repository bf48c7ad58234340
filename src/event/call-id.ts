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
  const [turn = 0, step = 0, index = 0, inner] = id.split('.').map(Number);
  return { turn, step, index, ...(inner !== undefined && { inner }) };
};

/** The call that made this one; undefined for a call of the model. */
export const makerOf = (id: CallId): CallId | undefined => {
  const { turn, step, index, inner } = callPosition(id);
  return inner === undefined ? undefined : callId(turn, step, index);
};

export const isCallId = (text: string): text is CallId =>
  /^[1-9]\d{0,8}\.[1-9]\d{0,8}\.[1-9]\d{0,8}(\.[1-9]\d{0,8})?$/.test(text);
