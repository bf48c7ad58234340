/** What the command line asks for. */
import { parseArgs } from 'node:util';

/** In the order of the page. `peers` takes longest and is measured only where it is asked for. */
export const PARTS = [
  'steps',
  'many',
  'postgres',
  'workers',
  'cold',
  'opening',
  'replay',
  'door',
  'page',
  'waiting',
  'room',
  'peers',
] as const;
export type PartName = (typeof PARTS)[number];
const OWN_PARTS: readonly PartName[] = PARTS.filter((name) => name !== 'peers');

export type Options = {
  readonly steps: readonly number[];
  readonly rounds: number;
  readonly parts: readonly PartName[];
  /** Where the measured stores lie; the system's temporary folder where it is not given. */
  readonly folder: string | undefined;
  readonly json: string | undefined;
  readonly save: boolean;
  /** Handed on to the harness of the peers as it is. */
  readonly peers: readonly string[];
};

export const STEPS_MAX = 1_000_000;
export const ROUNDS_MAX = 100;

export const USAGE: string = `npm run bench -- [--steps 10,100,1000,10000] [--reps 3] [--parts ${PARTS.join(',')}]
                 [--folder DIR] [--json FILE] [--save] [--vs [-- options of the harness of the peers]]
Without --parts all parts but "peers"; with --vs all of them, which is the whole of bench/RESULTS.md.`;

/** Throws a sentence where something is not usable. */
export const readOptions = (args: readonly string[]): Options => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      steps: { type: 'string', default: '10,100,1000,10000' },
      reps: { type: 'string', default: '3' },
      parts: { type: 'string' },
      vs: { type: 'boolean', default: false },
      folder: { type: 'string' },
      json: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  if (positionals.length > 0 && !values.vs) throw new Error(`"${positionals[0] ?? ''}" is no option.`);
  const named = values.parts?.split(',').map(partNamed);
  return {
    steps: values.steps.split(',').map((text) => whole(text, 'steps', STEPS_MAX)),
    rounds: whole(values.reps, 'reps', ROUNDS_MAX),
    parts: named ?? (values.vs ? PARTS : OWN_PARTS),
    folder: values.folder,
    json: values.json,
    save: values.save,
    peers: positionals,
  };
};

const whole = (text: string, name: string, max: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${name} "${text}" is no whole number from 1 to ${max}.`);
};

export const isPartName = (text: string): text is PartName => PARTS.some((name) => name === text);

const partNamed = (text: string): PartName => {
  if (isPartName(text)) return text;
  throw new Error(`--parts "${text}" is none of ${PARTS.join(', ')}.`);
};
