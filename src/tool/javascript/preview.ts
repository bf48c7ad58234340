/** What an approver is shown of a program: all of it, what bounds it, and what it may reach. */
import { BOUNDARY, type RoomFacts } from '../../room/level.ts';
import type { RoomLimits } from '../../room/limits.ts';
import type { Preview, PreviewBlock } from '../preview.ts';
import type { JavascriptInput, Program } from './input.ts';

const MIB = 1024 * 1024;

const size = (bytes: number): string => (bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes} bytes`);

/** The limits that stop a program, in one line. */
export const limitWords = ({
  ticks,
  wallMs,
  memoryBytes,
  resultBytes,
  filesOut,
  filesOutBytes,
}: RoomLimits): string =>
  `${ticks} ticks, ${wallMs} ms, ${size(memoryBytes)} of memory, ${size(resultBytes)} of result, ` +
  `${filesOut} files of ${size(filesOutBytes)} together`;

const roomFields = (facts: RoomFacts, limits: RoomLimits, { files, tools }: Program): PreviewBlock => ({
  kind: 'fields',
  fields: [
    { name: 'room', value: facts.level },
    { name: 'boundary', value: BOUNDARY[facts.level] },
    {
      name: 'engine',
      value: `${facts.engineVersion}${facts.runsc === undefined ? '' : `, runsc ${facts.runsc}`}`,
    },
    {
      name: 'reads',
      value: files.size === 0 ? 'no file' : `only the files given to it: ${[...files.keys()].join(', ')}`,
    },
    { name: 'network', value: 'none' },
    { name: 'credentials', value: 'none' },
    {
      name: 'tools',
      value:
        tools.length === 0
          ? 'none'
          : `${tools.join(', ')}; each as a call of its own, asked about like any other`,
    },
    { name: 'limits', value: limitWords(limits) },
  ],
});

export const programPreview = (
  given: JavascriptInput,
  program: Program,
  { facts, limits }: { readonly facts: RoomFacts; readonly limits: RoomLimits },
): Omit<Preview, 'base'> => ({
  title: 'Run a program. It reaches nothing outside its room.',
  target: `room of level ${facts.level}`,
  blocks: [
    { kind: 'text', title: 'program', text: given.code },
    ...(given.input === undefined ? [] : [{ kind: 'text', title: 'input', text: program.input } as const]),
    ...(given.files ?? []).map(
      ({ name, text, base64 = '' }) =>
        ({ kind: 'text', title: `file ${name}`, text: text ?? base64 }) as const,
    ),
    roomFields(facts, limits, program),
  ],
});
