/** The calendar as tools. Names are `<prefix>.list` and so on; see calendar.ts for what they do. */
import { z } from 'zod';
import type { Preview } from '../preview.ts';
import { type Tool, tool, type ToolContext } from '../tool.ts';
import {
  type Calendar,
  type Call,
  FREE_DAYS_MAX,
  LIST_DAYS_MAX,
  LIST_OCCURRENCES_MAX,
  openCalendar,
  type Planned,
  WEEKDAYS,
} from './calendar.ts';
import { refuse } from './fault.ts';
import { ENTRY_MINUTES_MAX } from './times.ts';

export type CalendarToolsOptions = {
  /** The SQLite file. Its folder has to exist; the file is created by the first write. */
  readonly path: string;
  /** The zone of the person who reads previews, an IANA name. Default "UTC". */
  readonly zone?: string;
  /** What the names of the tools begin with. Default "calendar". */
  readonly prefix?: string;
};

const TITLE_CHARS_MAX = 500;
const NOTES_CHARS_MAX = 10_000;
const ID_CHARS_MAX = 1_000;
const EXPORT_IDS_MAX = 500;

const zone = z.string().min(1).max(100).describe('IANA time zone, for example "Europe/Berlin"');
const time = z
  .string()
  .min(1)
  .max(40)
  .describe('"2026-07-01" for all-day, "2026-07-01T09:30" in `zone`, or the latter with "Z" or an offset');
const bound = z.string().min(1).max(40).describe('"2026-07-01" (midnight in `zone`) or "2026-07-01T09:30"');
const id = z.string().min(1).max(ID_CHARS_MAX).describe('The id of the entry, as the list shows it');
const occurrence = z
  .string()
  .min(1)
  .max(40)
  .optional()
  .describe('For an entry that repeats: `occurrence` as the list shows it, or "all"');
const minutes = z.int().min(1).max(ENTRY_MINUTES_MAX);

const listInput = z.strictObject({ from: bound, to: bound.describe('Exclusive; as `from`'), zone });
const freeInput = z.strictObject({
  from: bound,
  to: bound.describe('Exclusive; as `from`'),
  zone,
  minutes: minutes.describe('The least length of a slot'),
  hoursFrom: z.string().max(5).optional().describe('Start of the working hours in `zone`, default "09:00"'),
  hoursTo: z.string().max(5).optional().describe('End of the working hours in `zone`, default "17:00"'),
  weekdays: z.array(z.enum(WEEKDAYS)).min(1).max(7).optional().describe('Default MO to FR'),
});
const createInput = z.strictObject({
  title: z.string().min(1).max(TITLE_CHARS_MAX),
  start: time,
  end: time.optional().describe('As `start`; for dates the first day that is not part of the entry'),
  minutes: minutes.optional().describe('Instead of `end`'),
  zone: zone.optional().describe('IANA time zone of the entry; required for entries with a time'),
  where: z.string().max(TITLE_CHARS_MAX).optional(),
  notes: z.string().max(NOTES_CHARS_MAX).optional(),
  repeats: z.string().max(500).optional().describe('An RRULE, for example "FREQ=WEEKLY;BYDAY=MO;COUNT=10"'),
});
const moveInput = z.strictObject({
  id,
  occurrence,
  start: time,
  end: time.optional().describe('As `start`; without `end` and `minutes` the length stays'),
  minutes: minutes.optional(),
  zone: zone.optional().describe('Zone of `start` and `end`; without it the zone of the entry'),
});
const cancelInput = z.strictObject({ id, occurrence });
const importInput = z.strictObject({
  ics: z.string().min(1).describe('The text of the .ics file'),
  zone: zone.optional().describe('Zone for times in the file that have none'),
});
const exportInput = z.strictObject({
  ids: z.array(id).min(1).max(EXPORT_IDS_MAX).optional().describe('Entries to write; all without it'),
});

/** Line ends are made one; other control characters could start a new line in an .ics file and are refused. */
const cleanText = (name: string, text: string): string => {
  const lines = text.replaceAll(/\r\n?/g, '\n');
  // oxlint-disable-next-line no-control-regex -- it is control characters that are looked for
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u2028\u2029]/.test(lines))
    throw refuse('text-invalid', `\`${name}\` holds a control character. Give plain text.`);
  return lines;
};

type CreateArguments = z.infer<typeof createInput>;

const cleanDetails = (input: CreateArguments): CreateArguments => ({
  ...input,
  title: cleanText('title', input.title),
  ...(input.where !== undefined && { where: cleanText('where', input.where) }),
  ...(input.notes !== undefined && { notes: cleanText('notes', input.notes) }),
});

const callOf = (context: ToolContext): Call => ({
  key: context.idempotencyKey,
  nowMs: context.now(),
  base: context.base,
});

const previewOf = (title: string, { blocks, notes, base }: Planned): Preview => {
  const clash = blocks.some((block) => block.kind === 'calendar' && block.conflicts.length > 0);
  const warnings = [...(clash ? ['The entry overlaps with others.'] : []), ...notes];
  const target = targetOf(blocks);
  return {
    title,
    ...(target !== undefined && { target }),
    blocks,
    base,
    ...(warnings.length > 0 && { warnings }),
  };
};

/** What changes, in one line: "Site review, 2026-12-03, 14:00 to 2026-12-04, 10:00". */
const targetOf = (blocks: Planned['blocks']): string | undefined => {
  const [block] = blocks;
  if (block?.kind !== 'calendar') return undefined;
  const { before, after } = block;
  const title = after?.title ?? before?.title ?? '';
  const times = [before?.when, after?.when].filter((when) => when !== undefined);
  return blocks.length === 1 ? `${title}: ${times.join(' → ')}` : undefined;
};

const LABELS = { untrusted: true, private: true };
/** What all tools that change the calendar are; nothing of it leaves the machine. */
const CHANGES = { effect: 'idempotent', egress: false, labels: LABELS } as const;

const readTools = (calendar: Calendar, prefix: string): Tool[] => [
  tool({
    name: `${prefix}.list`,
    description:
      'Lists calendar entries between two times. Each time comes as local time in `zone`, offset and UTC; all-day entries ' +
      `are dates, the end exclusive. At most ${LIST_DAYS_MAX} days and ${LIST_OCCURRENCES_MAX} occurrences.`,
    inputSchema: listInput,
    effect: 'none',
    labels: LABELS,
    execute: (input) => calendar.list(input),
  }),
  tool({
    name: `${prefix}.free`,
    description: `Finds free time of a least length within working hours. At most ${FREE_DAYS_MAX} days.`,
    inputSchema: freeInput,
    effect: 'none',
    labels: LABELS,
    execute: (input) => calendar.free(input),
  }),
  tool({
    name: `${prefix}.export_ics`,
    description: 'Writes entries as the text of an .ics file.',
    inputSchema: exportInput,
    effect: 'none',
    labels: LABELS,
    execute: (input) => calendar.exportIcs(input),
  }),
];

const changeTools = (calendar: Calendar, prefix: string): Tool[] => [
  tool({
    name: `${prefix}.create`,
    description:
      'Creates a calendar entry. No invitation is sent. Conflicts are reported and do not stop it.',
    inputSchema: createInput,
    ...CHANGES,
    preview: (input, context) =>
      previewOf(
        'Create one calendar entry. No invitation is sent.',
        calendar.planCreate(cleanDetails(input), { ...callOf(context), base: undefined }),
      ),
    execute: (input, context) => calendar.create(cleanDetails(input), callOf(context)),
  }),
  tool({
    name: `${prefix}.move`,
    description: 'Moves a calendar entry, or one occurrence of an entry that repeats. No invitation is sent.',
    inputSchema: moveInput,
    ...CHANGES,
    preview: (input, context) =>
      previewOf(
        input.occurrence === 'all'
          ? 'Move a calendar entry with all its occurrences. No invitation is sent.'
          : 'Move one calendar entry. No invitation is sent.',
        calendar.planMove(input, { ...callOf(context), base: undefined }),
      ),
    execute: (input, context) => calendar.move(input, callOf(context)),
  }),
  tool({
    name: `${prefix}.cancel`,
    description: 'Cancels a calendar entry, or one occurrence of an entry that repeats. Nobody is told.',
    inputSchema: cancelInput,
    ...CHANGES,
    preview: (input, context) =>
      previewOf(
        input.occurrence === 'all'
          ? 'Cancel a calendar entry with all its occurrences. Nobody is told.'
          : 'Cancel one calendar entry. Nobody is told.',
        calendar.planCancel(input, { ...callOf(context), base: undefined }),
      ),
    execute: (input, context) => calendar.cancel(input, callOf(context)),
  }),
  tool({
    name: `${prefix}.import_ics`,
    description: 'Takes the events of an .ics file into the calendar, all or none. Known ids are updated.',
    inputSchema: importInput,
    ...CHANGES,
    preview: (input) => {
      const plan = calendar.planImport(input);
      return previewOf(`Import ${plan.title} into the calendar. No answer is sent.`, plan);
    },
    execute: (input, context) => calendar.importIcs(input, callOf(context)),
  }),
];

/** The seven calendar tools over one SQLite file. Throws `zone-unknown` for a zone that does not exist. */
export const calendarTools = ({
  path,
  zone: reader = 'UTC',
  prefix = 'calendar',
}: CalendarToolsOptions): Tool[] => {
  const calendar = openCalendar(path, reader);
  return [...readTools(calendar, prefix), ...changeTools(calendar, prefix)];
};
