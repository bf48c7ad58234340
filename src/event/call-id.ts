/**
 * Calls are known by turn, step and index, all counted from 1: "3.7.2". The provider's ids are labels: they
 * repeat within real sessions.
 */
export type CallId = `${number}.${number}.${number}`;

export type CallPosition = { readonly turn: number; readonly step: number; readonly index: number };

export const callId = (turn: number, step: number, index: number): CallId => `${turn}.${step}.${index}`;

export const callPosition = (id: CallId): CallPosition => {
  const [turn = 0, step = 0, index = 0] = id.split('.').map(Number);
  return { turn, step, index };
};

export const isCallId = (text: string): text is CallId =>
  /^[1-9]\d{0,8}\.[1-9]\d{0,8}\.[1-9]\d{0,8}$/.test(text);
