/** What cards for people say in words, whoever draws them: the act, what became of it, what is known of a doubt. */
import type { CallPosition } from '../event/call-id.ts';
import type { Outcome } from '../event/content.ts';
import type { ApprovalDecision, Settlement } from '../event/events.ts';
import type { Preview, PreviewBlock } from '../tool/preview.ts';
import type { Approval } from './approval.ts';
import type { Follow } from './consequence.ts';
import type { Doubt } from './doubt.ts';
import type { QuestionChange } from './question-change.ts';

/** "turn 3, step 7, call 2", and of an inner call ", its call 1". */
export const positionWords = ({ turn, step, index, inner }: CallPosition): string =>
  `turn ${turn}, step ${step}, call ${index}${inner === undefined ? '' : `, its call ${inner}`}`;

type Act = { readonly preview: Preview | undefined; readonly tool: string };

/** The act as a heading: "Save a mail draft. Nothing is sent." */
export const titleWords = ({ preview, tool }: Act): string =>
  preview && preview.title.trim() !== '' ? preview.title : `Run ${tool}`;

/** Longer titles are no words for a button. */
const ACT_LENGTH_MAX = 70;

/** The point of "Dr." or "No." ends no sentence, and half of one on a button would be another act. */
const ABBREVIATION_LENGTH_MAX = 3;

/** The first sentence without its point; "49.00" and "mail.example" have none. */
const firstSentence = (title: string): string => {
  const [line = ''] = title.split('\n', 1);
  for (const { index } of line.matchAll(/\.(?=\s|$)/gu)) {
    const sentence = line.slice(0, index);
    const word = sentence.slice(sentence.lastIndexOf(' ') + 1);
    if (word.length > ABBREVIATION_LENGTH_MAX || /\d/u.test(word) || index === line.length - 1)
      return sentence;
  }
  return line;
};

/** "save a mail draft", where the title is a plain sentence that begins with a verb; else "run mail.draft". */
export const actWords = ({ preview, tool }: Act): string => {
  const sentence = firstSentence(preview?.title ?? '');
  const isPlain = /^[A-Z][a-z]+ /.test(sentence) && sentence.length <= ACT_LENGTH_MAX;
  return isPlain ? `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}` : `run ${tool}`;
};

export const doubtQuestion = (doubt: Act): string =>
  doubt.preview === undefined ? `Did ${doubt.tool} happen?` : `Did this happen: ${actWords(doubt)}?`;

const HEADINGS: Readonly<Partial<Record<PreviewBlock['kind'], string>>> = {
  mail: 'What will be written',
  diff: 'What will change',
  cells: 'What will change',
  calendar: 'What will change',
  http: 'What will be requested',
};

/** Over what is decided about. */
export const previewHeading = ({ preview }: Pick<Approval, 'preview'>): string => {
  if (!preview) return 'What will run, with these arguments';
  const [first] = preview.blocks;
  return (first && HEADINGS[first.kind]) ?? 'What will happen';
};

export const PAST_WORDS: Readonly<Record<ApprovalDecision['do'], string>> = {
  approve: 'approved',
  edit: 'edited and approved',
  reject: 'rejected',
  respond: 'answered',
};

export const SETTLED_WORDS: Readonly<Record<Settlement['answer'], string>> = {
  happened: 'it happened',
  'not-happened': 'it did not happen',
  'give-up': 'give up on it',
};

export const CHANGE_WORDS: Readonly<Record<QuestionChange['what'], string>> = {
  arguments: 'the arguments',
  preview: 'the preview',
  base: 'what the tool will act on',
  tool: "the tool's definition",
  round: 'nothing that is shown; it was asked anew',
};

export const outcomeWords = (outcome: Outcome | undefined): string => {
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

export const doubtReason = ({ reason }: Doubt): string =>
  reason === 'process-lost'
    ? 'The call was started, and its process was lost before a result was recorded.'
    : 'The call was started, and nothing proves that it happened or that it did not.';

export const doubtEffect = ({ definition, attempt, tool }: Doubt): string => {
  switch (definition?.effect) {
    case 'reconcilable':
      return 'The tool was asked what became of it and could not say.';
    case 'idempotent':
      return `Running it again is safe with the same key, but ${attempt} attempts brought no answer.`;
    case 'once':
      return `${tool} cannot be asked about it, and it is not safe to run twice.`;
    default:
      return 'Whether it is safe to run again is not known.';
  }
};

/** What follows where a person says that it did not happen. */
export const againWords = (follow: Follow | undefined): string => {
  switch (follow?.kind) {
    case 'runs':
      return `Runs once more with the same arguments, as attempt ${follow.attempt}.`;
    case 'asks':
      return `A person is asked again before it runs (rule ${follow.rule}).`;
    case 'rejected':
      return 'Policy does not allow it any more: it does not run, and the model is told.';
    default:
      return 'Its turn has ended: nothing runs, and the model is told.';
  }
};

/** What follows from an edit. */
export const followWords = (follow: Follow): string => {
  switch (follow.kind) {
    case 'runs':
      return 'It runs with these arguments; the model is told that they were changed.';
    case 'asks':
      return `Rule ${follow.rule} asks again about these arguments before they run.`;
    case 'rejected':
      return `It would not run: ${follow.message}`;
    case 'closed':
      return 'Nothing runs.';
    default:
      return follow satisfies never;
  }
};
