/** One question to a person as lines: the act first, then why, then exactly what would happen. */
import type { PreviewBlock } from '../tool/preview.ts';
import type { Approval, ArgumentsEdit } from '../view/approval.ts';
import { argumentsPatch, prettyArguments, unshownLeaves, type Leaf } from '../view/arguments.ts';
import { countOf } from '../view/format.ts';
import type { OutsideText } from '../view/outside.ts';
import { wrap } from './terminal/cells.ts';
import { diffLines } from './terminal/diff.ts';
import { fit, type Look } from './terminal/look.ts';
import { previewBlockLines, previewLines } from './terminal/preview.ts';
import { EMPTY, concat, dim, line, own, repeat, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';

export type CardOptions = {
  readonly look: Look;
  /** A moment with its zone. */
  readonly time: (ms: number) => string;
};

/** Texts from outside that are named one by one. */
const OUTSIDE_SHOWN_MAX = 3;

/** `lead` and the lines after it under its end: `1 of 3   Save a mail draft.` */
export const headLines = (lead: Shown, lines: readonly Shown[], look: Look): Shown[] => {
  const ready = fit(lead, look);
  const indent = ready.plain.length;
  return lines.flatMap((shown, index) =>
    wrap(concat(index === 0 ? ready : repeat(' ', indent), fit(shown, look)), look.textColumns, {
      hanging: indent,
      strict: true,
    }),
  );
};

export const titleOf = ({ preview, tool }: Pick<Approval, 'preview' | 'tool'>): Shown =>
  preview && preview.title.trim() !== '' ? theirs(preview.title) : line`Run ${tool}`;

/** Which session and where in it: `inbox-assistant, s_7Q2M4K, turn 3, step 7, call 2`. */
export const placeOf = ({
  agent,
  session,
  position,
}: Pick<Approval, 'agent' | 'session' | 'position'>): Shown =>
  line`${agent}, ${session}, turn ${position.turn}, step ${position.step}, call ${position.index}`;

export const toolLine = ({
  tool,
  definition,
  preview,
}: Pick<Approval, 'tool' | 'definition' | 'preview'>): Shown => {
  const effect = definition ? line`, effect ${definition.effect}` : own('');
  const target = preview?.target === undefined ? own('') : line`, ${preview.target}`;
  return line`${strong(tool)}${effect}${target}`;
};

/** Everything above the preview. */
export const cardHead = (approval: Approval, lead: Shown, options: CardOptions): Shown[] => {
  const { look, time } = options;
  const asked = line`asked ${time(approval.askedAt)}`;
  const again = approval.round > 1 ? line`, for the ${ordinal(approval.round)} time` : own('');
  return [
    ...headLines(
      lead,
      [strong(titleOf(approval)), toolLine(approval), placeOf(approval), concat(asked, again)],
      look,
    ),
    EMPTY,
    ...whyLines(approval, look),
    ...approval.edits.flatMap((edit) => editLines(edit, options)),
    strong(headingOf(approval)),
  ];
};

const ordinal = (count: number): string => {
  const ends: Readonly<Record<number, string>> = { 1: 'st', 2: 'nd', 3: 'rd' };
  const end = count % 100 > 10 && count % 100 < 14 ? 'th' : (ends[count % 10] ?? 'th');
  return `${count}${end}`;
};

const whyLines = ({ rule, reason, outside }: Approval, look: Look): Shown[] => {
  const quoted = outside.slice(0, OUTSIDE_SHOWN_MAX);
  const more = outside.length - quoted.length;
  return [
    line`${strong(own('Why you are asked'))}   rule ${rule}`,
    ...(reason === undefined
      ? []
      : wrap(fit(line`  ${reason}`, look), look.textColumns, { hanging: 2, strict: true })),
    ...quoted.flatMap((text) => outsideLines(text, look)),
    ...(more > 0 ? [line`  ${countOf(more, 'more text')} from outside stood in the request.`] : []),
    EMPTY,
  ];
};

const outsideLines = ({ seq, tool, quote, argument }: OutsideText, look: Look): Shown[] => {
  if (quote === undefined) return [line`  Text from outside stood in the request: event ${seq}, ${tool}.`];
  return [
    line`  The argument ${argument ?? ''} stands in text from outside (event ${seq}, ${tool}):`,
    ...previewBlockLines({ kind: 'text', text: quote }, { look }),
  ];
};

const editLines = ({ by, at, before, after }: ArgumentsEdit, { look, time }: CardOptions): Shown[] => [
  line`${strong(own('Edited'))}   by ${by.name}, ${time(at)}`,
  ...diffLines(argumentsPatch(before, after), look),
  EMPTY,
];

const HEADINGS: Readonly<Partial<Record<PreviewBlock['kind'], Shown>>> = {
  mail: own('What will be written'),
  diff: own('What will change'),
  cells: own('What will change'),
  calendar: own('What will change'),
  http: own('What will be requested'),
};

const headingOf = ({ preview }: Approval): Shown => {
  if (!preview) return own('What will run, with these arguments');
  const [first] = preview.blocks;
  return (first && HEADINGS[first.kind]) ?? own('What will happen');
};

/** What is decided about. The last line of it has to be shown before anybody can approve. */
export const cardBody = ({ preview, args }: Approval, look: Look): Shown[] => {
  if (!preview) return argumentLines(args, look);
  const unshown = unshownLeaves(args, preview);
  const lines = previewLines(preview, { look });
  return [
    ...(lines.length === 0 ? [line`  The tool shows nothing more than its heading.`] : lines),
    ...(unshown.length === 0
      ? []
      : [EMPTY, strong(own('Arguments that the preview does not show')), ...leafLines(unshown, look)]),
  ];
};

/** The exact arguments over several lines, everything hidden in them made visible. */
export const argumentLines = (args: string, look: Look): Shown[] =>
  previewBlockLines({ kind: 'text', text: prettyArguments(args) }, { look });

const leafLines = (leaves: readonly Leaf[], look: Look): Shown[] =>
  previewBlockLines(
    {
      kind: 'fields',
      fields: leaves.map(({ pointer, value }) => ({
        name: pointer.slice(1),
        value: typeof value === 'string' ? JSON.stringify(value) : String(value),
      })),
    },
    { look },
  );

/** "save a mail draft", where the title is a plain sentence that begins with a verb. */
export const actOf = ({ preview, tool }: Pick<Approval, 'preview' | 'tool'>): Shown => {
  const title = preview?.title ?? '';
  const [sentence = ''] = /^[^.\n]+/.exec(title) ?? [];
  const plain = /^[A-Z][a-z]+ /.test(sentence) && sentence.length <= ACT_LENGTH_MAX;
  if (!plain) return line`run ${tool}`;
  return theirs(`${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`);
};

const ACT_LENGTH_MAX = 70;

/** A mark for tables: something from outside stands in the arguments. */
export const outsideMark = ({ outside }: Approval): Shown =>
  outside.some((text) => text.quote !== undefined) ? concat(SIGN.wait, dim(own(' from outside'))) : EMPTY;
