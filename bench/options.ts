/** What the command line asks for. */
import { parseArgs } from 'node:util';

export const PARTS = ['steps', 'many', 'opening', 'waiting', 'replay', 'room', 'door'] as const;
export type PartName = (typeof PARTS)[number];

export type Options = {
  readonly steps: readonly number[];
  readonly rounds: number;
  readonly parts: readonly PartName[];
  /** Where the measured stores lie; the system's temporary folder where it is not given. */
  readonly folder: string | undefined;
  readonly json: string | undefined;
  readonly save: boolean;
};

export const STEPS_MAX = 1_000_000;
export const ROUNDS_MAX = 100;

export const USAGE: string = `npm run bench -- [--steps 10,100,1000,10000] [--reps 3] [--parts ${PARTS.join(',')}]
                 [--folder DIR] [--json FILE] [--save]`;

/** Throws a sentence where something is not usable. */
export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      steps: { type: 'string', default: '10,100,1000,10000' },
      reps: { type: 'string', default: '3' },
      parts: { type: 'string', default: PARTS.join(',') },
      folder: { type: 'string' },
      json: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  return {
    steps: values.steps.split(',').map((text) => whole(text, 'steps', STEPS_MAX)),
    rounds: whole(values.reps, 'reps', ROUNDS_MAX),
    parts: values.parts.split(',').map(partNamed),
    folder: values.folder,
    json: values.json,
    save: values.save,
  };
};

const whole = (text: string, name: string, max: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${name} "${text}" is no whole number from 1 to ${max}.`);
};

const partNamed = (text: string): PartName => {
  const part = PARTS.find((name) => name === text);
  if (part) return part;
  throw new Error(`--parts "${text}" is none of ${PARTS.join(', ')}.`);
};
