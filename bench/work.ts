/**
 * The work that everybody does: a model's turn and a tool's result, both functions of the step alone. A turn has
 * 300 bytes of text and one call with about 190 bytes of JSON arguments, a result has about 1 KB of JSON.
 */

export const INSTRUCTIONS =
  'You look after a harbour. Ask the berth register until you can say what happened.';
export const QUESTION = 'Which berths stood empty in the second week of May, and why did nobody offer them?';

/** What the model says in the end. */
export const ANSWER = 'That is all.';

const TEXT_LENGTH = 300;
const QUESTION_LENGTH = 116;
const MARK_DIGITS = 40;
const BERTHS = 6;
const BERTH_DIGITS = 24;
const REMARK_LENGTH = 84;

const WORDS: readonly string[] = (
  'anchor ballast barge beacon berth bollard breakwater buoy cable capstan cargo channel chart crane current ' +
  'customs deck derrick dock draught dredger fender ferry gangway harbour hatch hawser helm hold hull keel ' +
  'lantern lighter lock manifest mast mooring pier pilot quay roster rudder sluice stern tide tonnage tug wharf'
).split(' ');

const UINT32 = 2 ** 32;

/** Numbers below 2^32 from a seed: a counter through a 32-bit finalizer, so that neighbouring seeds share nothing. */
const numbers = (seed: number): (() => number) => {
  let counter = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let mixed = Math.imul(counter ^ (counter >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % UINT32;
  };
};

const sentence = (seed: number, length: number): string => {
  const draw = numbers(seed);
  let text = '';
  while (text.length < length) text += `${WORDS[draw() % WORDS.length]} `;
  return text.slice(0, length);
};

const digits = (seed: number, count: number): string => {
  const draw = numbers(seed);
  let text = '';
  while (text.length < count) text += draw().toString(16).padStart(8, '0');
  return text.slice(0, count);
};

export type Turn = {
  readonly text: string;
  readonly label: string;
  readonly tool: string;
  readonly args: {
    readonly question: string;
    readonly mark: string;
    readonly step: number;
    readonly rows: number;
  };
};

/** What the model says at a step, counted from 0. */
export const turnAt = (step: number): Turn => ({
  text: sentence(step * 3, TEXT_LENGTH),
  label: `ask_${step}`,
  tool: 'berths',
  args: {
    question: sentence(step * 3 + 1, QUESTION_LENGTH),
    mark: digits(step * 3 + 2, MARK_DIGITS),
    step,
    rows: BERTHS,
  },
});

export type Result = {
  readonly step: number;
  readonly berths: readonly {
    readonly id: string;
    readonly state: string;
    readonly tons: number;
    readonly remark: string;
  }[];
};

/** What the tool returns at a step. */
export const resultAt = (step: number): Result => ({
  step,
  berths: Array.from({ length: BERTHS }, (_, row) => {
    const seed = step * BERTHS + row;
    return {
      id: digits(seed * 2 + 1, BERTH_DIGITS),
      state: WORDS[(step + row) % WORDS.length] ?? '',
      tons: (step * 41 + row * 97) % 9973,
      remark: sentence(seed * 2, REMARK_LENGTH),
    };
  }),
});
