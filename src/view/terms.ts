/** Who may decide about a question and until when: as data, and in words for people. */
import type { Actor } from '../event/content.ts';
import type { AskTerms, Condition, Mode, SeenLabel } from '../event/definition.ts';
import type { CallState } from '../session/state.ts';
import { cutText } from './brief.ts';
import { formatDuration } from './format.ts';

export type QuestionTerms = {
  /** Names and "role:NAME", with those it went to later; undefined: whoever may decide at all. */
  readonly by: readonly string[] | undefined;
  readonly fourEyes: boolean;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly expiresAt: number | undefined;
  /** Still to come. */
  readonly escalates: { readonly at: number; readonly to: readonly string[] } | undefined;
  readonly escalated:
    | { readonly seq: number; readonly at: number; readonly to: readonly string[] }
    | undefined;
};

export const termsOf = (call: CallState | undefined): QuestionTerms => {
  const { by, fourEyes = false, expiresAt, escalates } = call?.terms ?? {};
  return { by, fourEyes, expiresAt, escalates, escalated: undefined };
};

/** "ada", "anyone with the role finance". */
export const whoWord = (name: string): string =>
  name.startsWith('role:') ? `anyone with the role ${name.slice('role:'.length)}` : name;

/** "ada, ben or anyone with the role finance". */
export const whoWords = (names: readonly string[]): string => {
  const words = names.map(whoWord);
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
};

/** "waits for a person", "waits for ada", "waits for 3 people and roles". */
export const waitsFor = (by: readonly string[] | undefined): string => {
  if (by === undefined) return 'waits for a person';
  const [only] = by;
  if (by.length === 1 && only !== undefined)
    return only.startsWith('role:') ? `waits for role ${only.slice('role:'.length)}` : `waits for ${only}`;
  return `waits for one of ${by.length}`;
};

export type WordsOptions = {
  /** The reader's name, who is called "you". */
  readonly me: string;
  /** A moment with its zone. */
  readonly time: (ms: number) => string;
};

/** Sentences about how a question is to be decided, beside who is asked; empty where there is nothing to say. */
export const termsWords = (
  terms: QuestionTerms,
  asker: Actor,
  { me, time }: WordsOptions,
): readonly string[] => {
  const { fourEyes, escalates, escalated } = terms;
  const who = asker.name === me ? 'you' : asker.name;
  return [
    ...(fourEyes ? [`Four eyes: ${who} asked for this turn, so somebody else has to approve it.`] : []),
    ...(escalated === undefined
      ? []
      : [`It went to ${whoWords(escalated.to)} as well, ${time(escalated.at)}: nobody had decided.`]),
    ...(escalates === undefined
      ? []
      : [`It goes to ${whoWords(escalates.to)} as well, ${time(escalates.at)}, if nobody has decided.`]),
  ];
};

/** A rule's terms before anything was asked: "ada may decide, four eyes, lapses after 2 h". */
export const askTermsWords = ({ by, fourEyes, expiresMs, escalate }: AskTerms): string =>
  [
    ...(by === undefined ? [] : [`${whoWords(by)} may decide`]),
    ...(fourEyes === true ? ['four eyes'] : []),
    ...(escalate === undefined
      ? []
      : [`goes to ${whoWords(escalate.to)} as well after ${formatDuration(escalate.afterMs)}`]),
    ...(expiresMs === undefined ? [] : [`lapses after ${formatDuration(expiresMs)}`]),
  ].join(', ');

/** UTF-16 units of a value within a condition; how much is cut is said. */
const VALUE_LENGTH_MAX = 80;

const valueWord = (value: string | number | boolean | null): string => {
  const text = JSON.stringify(value);
  if (text.length <= VALUE_LENGTH_MAX) return text;
  return `${cutText(text, VALUE_LENGTH_MAX)} (${text.length} characters)`;
};

const orWords = (values: readonly (string | number)[]): string => values.map(valueWord).join(' or ');

/** `/to is "a@b.example"`, `/amount is at most 500`, `nothing but to and amount`. */
export const conditionWords = (condition: Condition): string => {
  const { at } = condition;
  const where = at === '' ? 'the arguments' : at;
  if ('equals' in condition) return `${where} is ${valueWord(condition.equals)}`;
  if ('oneOf' in condition) return `${where} is ${orWords(condition.oneOf)}`;
  if ('atMost' in condition) return `${where} is at most ${condition.atMost}`;
  if ('atLeast' in condition) return `${where} is at least ${condition.atLeast}`;
  if ('domainIn' in condition) return `${where} is an address at ${condition.domainIn.join(' or ')}`;
  if ('hostIn' in condition) return `${where} has the host ${condition.hostIn.join(' or ')}`;
  if ('below' in condition) return `${where} is a path below ${condition.below.join(' or ')}`;
  const members = condition.only.length === 0 ? 'nothing' : `nothing but ${condition.only.join(', ')}`;
  return at === '' ? `there is ${members}` : `${at} has ${members}`;
};

/** What each mode lets start. */
export const MODE_WORDS: Readonly<Record<Mode, string>> = {
  normal: 'calls start as policy says',
  'dry-run': 'effects are shown and not done',
  'read-only': 'only tools without an effect start',
  frozen: 'nothing starts, no model request either',
};

/** "Untrusted and private text". */
export const labelsWords = (labels: readonly SeenLabel[]): string => {
  const words = `${labels.join(' and ')} text`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};
