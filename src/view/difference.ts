/** Where a replay came out otherwise, in words: which decision, which part of it, and what that part is. */
import { canonical, DIGEST_LENGTH } from '../event/canonical.ts';
import { callPosition, isCallId } from '../event/call-id.ts';
import { isJsonObject, type Json } from '../event/json.ts';
import { positionWords } from './card-words.ts';
import { shortDigest } from './format.ts';

/** What a replay reports; the shape of replay's own difference. */
export type FoundDifference = {
  readonly seq: number;
  readonly type: string;
  /** JSON Pointer; empty where the whole decision differs. */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
};

export type DifferenceWords = {
  /** "turn 9, step 41", empty where it belongs to none. */
  readonly place: string;
  /** What stands at the path: "tool definitions". */
  readonly meaning: string;
  readonly recorded: string;
  readonly now: string;
};

/** The longest value that is shown on one line, in UTF-16 units. */
const VALUE_UNITS_MAX = 60;

export const differenceWords = (difference: FoundDifference, data: unknown): DifferenceWords => ({
  place: placeOf(data),
  meaning: meaningOf(difference),
  recorded: valueWords(difference.recorded),
  now: valueWords(difference.now),
});

const placeOf = (data: unknown): string => {
  if (!isJsonObject(data)) return '';
  const { turn, step, call } = data;
  if (typeof call === 'string' && isCallId(call)) {
    const position = callPosition(call);
    return positionWords(position);
  }
  if (typeof turn !== 'number') return '';
  return typeof step === 'number' ? `turn ${turn}, step ${step}` : `turn ${turn}`;
};

/** By the beginning of the path; the first that fits. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^\/frame\/head/, 'instructions, tool definitions and settings of the request'],
  [/^\/frame\/tail/, 'the end of the request'],
  [/^\/frame/, 'what stands around the conversation in the request'],
  [/^\/parts/, 'the conversation as the model sees it'],
  [/^\/reuse/, 'what the request shares with the one before'],
  [/^\/(?:chain|bytes)/, 'the bytes of the request'],
  [/^\/digest/, 'what the approval is bound to'],
  [/^\/args/, 'the arguments'],
  [/^\/do/, 'whether the call runs or a person is asked'],
  [/^\/rule/, 'the rule that decided'],
  [/^\/notBefore/, 'when the next attempt may start'],
  [/^\/(?:outcome|reason|message|code)/, 'how it ended, and why'],
  [/^\/receipt/, 'what a cancelled turn left behind'],
  [/^\/attempt/, 'the number of the attempt'],
];

const meaningOf = ({ path, recorded, now }: FoundDifference): string => {
  if (path === '' && now === undefined) return 'nothing would be decided here';
  if (path === '' && recorded === undefined) return 'a decision that is missing from the log';
  if (path === '') return 'another decision';
  return MEANINGS.find(([pattern]) => pattern.test(path))?.[1] ?? '';
};

const isDigest = (value: string): boolean => value.length === DIGEST_LENGTH && /^[0-9a-f]+$/.test(value);

const valueWords = (value: Json | undefined): string => {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string' && isDigest(value)) return shortDigest(value);
  if (isJsonObject(value) && typeof value['type'] === 'string' && 'data' in value) return value['type'];
  const text = canonical(value);
  return text.length <= VALUE_UNITS_MAX
    ? text
    : `${text.slice(0, VALUE_UNITS_MAX).toWellFormed()}… (${text.length} characters)`;
};
