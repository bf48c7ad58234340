/** A call in doubt as lines: the question first, then all that is known, then where a person can look. */
import type { Outcome } from '../event/content.ts';
import type { Doubt } from '../view/doubt.ts';
import { formatDuration } from '../view/format.ts';
import { actOf, argumentLines, headLines, placeOf, toolLine, type CardOptions } from './approval-card.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { previewBlockLines } from './terminal/preview.ts';
import { concat, EMPTY, line, own, strong, type Shown } from './terminal/shown.ts';

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
    ...prose(reasonLine(doubt), look),
    ...prose(effectLine(doubt), look),
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

const reasonLine = ({ reason }: Doubt): Shown =>
  reason === 'process-lost'
    ? own('The call was started, and its process was lost before a result was recorded.')
    : own('The call was started, and nothing proves that it happened or that it did not.');

const effectLine = ({ definition, attempt, tool }: Doubt): Shown => {
  switch (definition?.effect) {
    case 'reconcilable':
      return own('The tool was asked what became of it and could not say.');
    case 'idempotent':
      return line`Running it again is safe with the same key, but ${attempt} attempts brought no answer.`;
    case 'once':
      return line`${tool} cannot be asked about it, and it is not safe to run twice.`;
    default:
      return own('Whether it is safe to run again is not known.');
  }
};

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

const outcomeWords = (outcome: Outcome | undefined): string => {
  switch (outcome?.kind) {
    case undefined:
      return 'no result recorded';
    case 'ok':
      return 'came back with a result';
    case 'failed':
      return `failed without an effect: ${outcome.message} (${outcome.code})`;
    case 'unknown':
      return `${outcome.message} (${outcome.code})`;
    default:
      return outcome satisfies never;
  }
};

const whereLine = ({ preview, tool, startedAt }: Doubt, time: (ms: number) => string): Shown => {
  const target = preview?.target;
  const place = target === undefined ? line`Where ${tool} acts` : line`${target}`;
  return line`${place}, around ${time(startedAt)}. A service that was given the key can be searched for it.`;
};
