/** A call in doubt as lines: the question first, then all that is known, then where a person can look. */
import type { Doubt } from '../view/doubt.ts';
import { doubtEffect, doubtReason, outcomeWords } from '../view/card-words.ts';
import { formatDuration } from '../view/format.ts';
import { actOf, argumentLines, headLines, placeOf, toolLine, type CardOptions } from './approval-card.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { previewBlockLines } from './terminal/preview.ts';
import { concat, EMPTY, line, own, strong, theirs, type Shown } from './terminal/shown.ts';

export type DoubtCardOptions = Pick<CardOptions, 'look' | 'time' | 'now'>;

/** The question, and which call it is about. */
export const doubtHead = (doubt: Doubt, lead: Shown, options: DoubtCardOptions): Shown[] => {
  const { look, time, now } = options;
  const ago = line`, ${formatDuration(Math.max(0, now - doubt.since))} ago`;
  const over = doubt.turnEnded ? own('. Its turn has ended') : own('');
  return [
    ...headLines(
      lead,
      [
        strong(questionOf(doubt)),
        toolLine(doubt),
        placeOf(doubt),
        concat(line`in doubt since ${time(doubt.since)}`, ago, over),
      ],
      look,
    ),
    EMPTY,
  ];
};

export const questionOf = (doubt: Pick<Doubt, 'preview' | 'tool'>): Shown =>
  doubt.preview === undefined ? line`Did ${doubt.tool} happen?` : line`Did this happen: ${actOf(doubt)}?`;

/** What is known, the exact arguments, and where to look. */
export const doubtBody = (doubt: Doubt, options: DoubtCardOptions): Shown[] => {
  const { look, time } = options;
  return [
    strong(own('What is known')),
    ...prose(theirs(doubtReason(doubt)), look),
    ...prose(theirs(doubtEffect(doubt)), look),
    ...previewBlockLines({ kind: 'fields', fields: knownFields(doubt, time) }, { look }),
    EMPTY,
    strong(own('Arguments')),
    ...argumentLines(doubt.args, look),
    EMPTY,
    strong(own('Where to look')),
    ...prose(whereLine(doubt, time), look),
  ];
};

const prose = (shown: Shown, look: Look): Shown[] =>
  wrap(fit(line`  ${shown}`, look), look.textColumns, { hanging: 2, strict: true });

type Field = { readonly name: string; readonly value: string };

const knownFields = (doubt: Doubt, time: (ms: number) => string): readonly Field[] => [
  ...doubt.attempts.map(({ attempt, startedAt, startedSeq, outcome }) => ({
    name: `Attempt ${attempt}`,
    value: `started ${time(startedAt)}, event ${startedSeq}; ${outcomeWords(outcome)}`,
  })),
  { name: 'Key', value: doubt.key },
  ...doubt.reconciliations.map(({ note, at, seq }) => ({
    name: 'Tool asked',
    value: `${note} (${time(at)}, event ${seq})`,
  })),
  ...(doubt.late.length === 0
    ? [{ name: 'Late results', value: 'none so far' }]
    : doubt.late.map(({ attempt, at, seq, outcome }) => ({
        name: 'Late result',
        value: `attempt ${attempt}, ${time(at)}, event ${seq}; ${outcomeWords(outcome)}`,
      }))),
];

const whereLine = ({ preview, tool, startedAt }: Doubt, time: (ms: number) => string): Shown => {
  const target = preview?.target;
  const place = target === undefined ? line`Where ${tool} acts` : line`${target}`;
  return line`${place}, around ${time(startedAt)}. A service that was given the key can be searched for it.`;
};
