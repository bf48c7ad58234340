/** One question to a person as lines: the act first, then why, then exactly what would happen. */
import { systemClock } from '../clock.ts';
import type { PreviewBlock } from '../tool/preview.ts';
import type { Approval, ArgumentsEdit } from '../view/approval.ts';
import { argumentsPatch, prettyArguments, unshownLeaves, type Leaf } from '../view/arguments.ts';
import { countOf } from '../view/format.ts';
import type { OutsideText } from '../view/outside.ts';
import { argumentsBrief } from '../view/brief.ts';
import { positionWords } from '../view/card-words.ts';
import type { QuestionChange } from '../view/question-change.ts';
import { labelsWords, termsWords, whoWords } from '../view/terms.ts';
import type { Cli } from './cli.ts';
import { pastOf } from './decision.ts';
import { standingGrantLines } from './grant.ts';
import { wrap } from './terminal/cells.ts';
import { diffLines } from './terminal/diff.ts';
import { fit, type Look } from './terminal/look.ts';
import { previewBlockLines, previewLines } from './terminal/preview.ts';
import { EMPTY, concat, dim, line, own, repeat, SIGN, strong, theirs, type Shown } from './terminal/shown.ts';

export type CardOptions = {
  readonly look: Look;
  /** A moment with its zone. */
  readonly time: (ms: number) => string;
  /** A moment to come, with how far away it is. */
  readonly deadline: (ms: number) => string;
  readonly now: number;
  /** The reader's name, who is called "you". */
  readonly me: string;
};

export const cardOptionsOf = ({ screen, actor }: Cli, look: Look): CardOptions => ({
  look,
  time: (ms) => screen.time(ms),
  deadline: (ms) => screen.deadline(ms),
  now: systemClock.now(),
  me: actor.name,
});

/** Texts that are named one by one. */
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
  line`${agent}, ${session}, ${positionWords(position)}`;

/** A call that another call makes says which one: `made by run_javascript, call 1.1.1: code const low = []; …`. */
const makerLine = ({ maker }: Approval): Shown[] =>
  maker ? [line`made by ${strong(maker.tool)}, call ${maker.call}: ${argumentsBrief(maker.args)}`] : [];

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
export const cardHead = (approval: Approval, lead: Shown, options: CardOptions): Shown[] => [
  ...headLines(
    lead,
    [
      strong(titleOf(approval)),
      toolLine(approval),
      placeOf(approval),
      ...makerLine(approval),
      askedLine(approval, options),
    ],
    options.look,
  ),
  EMPTY,
  ...whoLines(approval, options),
  ...whyLines(approval, options.look),
  ...standingLines(approval, options),
  ...beforeLines(approval, options),
  ...approval.edits.flatMap((edit) => editLines(edit, options)),
  strong(headingOf(approval)),
];

/** `asked 14:02:38 CET, lapses Sat 28 Nov, 14:02 CET (UTC+1), in 24 h` */
const askedLine = ({ askedAt, round, terms }: Approval, { time, deadline, now }: CardOptions): Shown => {
  const again = round > 1 ? line`, for the ${ordinal(round)} time` : own('');
  const { expiresAt } = terms;
  const ends = (at: number): Shown =>
    at > now ? line`, lapses ${deadline(at)}` : line`, lapsed ${time(at)}`;
  return line`asked ${time(askedAt)}${again}${expiresAt === undefined ? own('') : ends(expiresAt)}`;
};

const ordinal = (count: number): string => {
  const ends: Readonly<Record<number, string>> = { 1: 'st', 2: 'nd', 3: 'rd' };
  const end = count % 100 > 10 && count % 100 < 14 ? 'th' : (ends[count % 10] ?? 'th');
  return `${count}${end}`;
};

const prose = (shown: Shown, look: Look, indent = 2): Shown[] =>
  wrap(fit(concat(repeat(' ', indent), shown), look), look.textColumns, { hanging: indent, strict: true });

/** Nothing where whoever may decide at all may decide about this. */
const whoLines = ({ terms, asker }: Approval, { look, time, me }: CardOptions): Shown[] => {
  const words = termsWords(terms, asker, { me, time });
  if (terms.by === undefined && words.length === 0) return [];
  const who = terms.by === undefined ? own('whoever may decide here') : theirs(whoWords(terms.by));
  return [
    ...wrap(fit(line`${strong(own('Who may decide'))}   ${who}`, look), look.textColumns, {
      hanging: 2,
      strict: true,
    }),
    ...words.flatMap((sentence) => prose(theirs(sentence), look)),
    EMPTY,
  ];
};

const whyLines = (approval: Approval, look: Look): Shown[] => {
  const { rule, reason, seen, outside, tool, definition, known } = approval;
  const quoted = outside.filter(({ quote }) => quote !== undefined);
  const rest = outside.filter(({ quote, labels }) => quote === undefined && labels.includes('untrusted'));
  const named = [...quoted, ...rest].slice(0, OUTSIDE_SHOWN_MAX);
  const more = outside.length - named.length;
  const leaves = definition?.egress === true ? line`, and something can leave through ${tool}` : own('');
  return [
    ...wrap(fit(line`${strong(own('Why you are asked'))}   rule ${rule}`, look), look.textColumns, {
      hanging: 2,
      strict: true,
    }),
    ...(reason === undefined ? [] : prose(theirs(reason), look)),
    ...(seen.length === 0 ? [] : prose(line`${labelsWords(seen)} stood in the request${leaves}.`, look)),
    ...named.flatMap((text) => outsideLines(text, look, known)),
    ...(more > 0 ? [moreLine(outside.slice(-more), look)].flat() : []),
    EMPTY,
  ];
};

/** Events of texts that are not named one by one. */
const EVENTS_NAMED_MAX = 8;

const moreLine = (texts: readonly OutsideText[], look: Look): Shown[] => {
  const events = texts.slice(0, EVENTS_NAMED_MAX).map(({ seq }) => seq);
  const dots = texts.length > events.length ? own(', …') : own('');
  return prose(
    line`${countOf(texts.length, 'more labelled text')}: ${texts.length === 1 ? 'event' : 'events'} ${events.join(', ')}${dots}.`,
    look,
  );
};

const outsideLines = (text: OutsideText, look: Look, known: readonly string[]): Shown[] => {
  const { seq, tool, call, labels, length, quote, argument } = text;
  const from = tool === undefined ? own('a message') : line`${tool}, call ${call ?? ''}`;
  const where = line`event ${seq}, ${from}, ${countOf(length, 'character')}`;
  const what = labels.includes('untrusted') ? own('text from outside') : own('private text');
  if (quote === undefined) return prose(line`Text from outside: ${where}.`, look);
  return [
    ...prose(line`The argument ${argument ?? ''} stands in ${what} (${where}):`, look),
    ...previewBlockLines({ kind: 'text', text: quote }, { look, known }),
  ];
};

/** Grants that stand and do not cover this call. */
const standingLines = ({ tool, grants }: Approval, { look, time, now, me }: CardOptions): Shown[] => {
  const standing = grants.filter(({ expiresAt }) => expiresAt > now);
  const same = standing.filter((grant) => grant.tool === tool);
  const others = standing.length - same.length;
  if (same.length === 0) return [];
  return [
    line`${strong(own('Grants that stand'))}   none of it covers this call`,
    ...same.flatMap((grant) => standingGrantLines(grant, { look, time, me })),
    ...(others > 0 ? prose(line`${countOf(others, 'grant')} for other tools.`, look) : []),
    EMPTY,
  ];
};

const CHANGE_WORDS: Readonly<Record<QuestionChange['what'], string>> = {
  arguments: 'the arguments',
  preview: 'the preview',
  base: 'what the tool will act on',
  tool: "the tool's definition",
  round: 'nothing that is shown',
};

const beforeLines = ({ before }: Approval, { look, time, me }: CardOptions): Shown[] => {
  if (!before) return [];
  const { decided, changes } = before;
  const who = decided === undefined ? '' : decided.by.name === me ? 'you' : decided.by.name;
  const answered =
    decided === undefined
      ? own('not decided')
      : line`${pastOf(decided.decision.do)} by ${who}, ${time(decided.at)}`;
  const changed = changes.map(({ what }) => CHANGE_WORDS[what]).join(', ');
  return [
    ...wrap(
      fit(line`${strong(own('Asked before'))}   ${answered}. Changed since: ${changed}.`, look),
      look.textColumns,
      { hanging: 2, strict: true },
    ),
    EMPTY,
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
export const cardBody = ({ preview, args, known }: Approval, look: Look): Shown[] => {
  if (!preview) return argumentLines(args, look, known);
  const unshown = unshownLeaves(args, preview);
  const lines = previewLines(preview, { look, known });
  return [
    ...(lines.length === 0 ? [line`  The tool shows nothing more than its heading.`] : lines),
    ...(unshown.length === 0
      ? []
      : [EMPTY, strong(own('Arguments that the preview does not show')), ...leafLines(unshown, look, known)]),
  ];
};

/** The exact arguments over several lines, everything hidden in them made visible. */
export const argumentLines = (args: string, look: Look, known: readonly string[] = []): Shown[] =>
  previewBlockLines({ kind: 'text', text: prettyArguments(args) }, { look, known });

const leafLines = (leaves: readonly Leaf[], look: Look, known: readonly string[]): Shown[] =>
  previewBlockLines(
    {
      kind: 'fields',
      fields: leaves.map(({ pointer, value }) => ({
        name: pointer.slice(1),
        value: typeof value === 'string' ? JSON.stringify(value) : String(value),
      })),
    },
    { look, known },
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
  outside.some(({ quote, labels }) => quote !== undefined && labels.includes('untrusted'))
    ? concat(SIGN.wait, dim(own(' from outside')))
    : EMPTY;
