/** What a provider said about its work on a request, in words. Its own words are quoted as they are. */
import type { InputChange, Remarks } from '../event/content.ts';
import { countOf } from './format.ts';

/** Words that say that there is nothing to compare with, or nothing known: they explain nothing. */
const NO_REASON: ReadonlySet<string> = new Set([
  'cache_hit',
  'pending',
  'unavailable',
  'previous_message_not_found',
  'comparison_response_not_found',
]);

export const isReason = (said: string): boolean => !NO_REASON.has(said);

/** Tiers that nobody asked for: a line does not name them. */
const COMMON_TIERS: ReadonlySet<string> = new Set(['standard', 'default', 'auto']);

export const tierWords = (remarks: Remarks | undefined): string | undefined =>
  remarks?.tier === undefined || COMMON_TIERS.has(remarks.tier) ? undefined : `tier ${remarks.tier}`;

/** The one entry that reports a block which stayed. */
const ALLOWED = 'thinking_mismatch_allowed';

/** In a few words, for a line about a response; undefined where the provider changed nothing. */
export const changesBrief = (remarks: Remarks | undefined): string | undefined => {
  const made = remarks?.changes?.filter(({ what }) => what !== ALLOWED) ?? [];
  return made.length === 0 ? undefined : `the provider made ${countOf(made.length, 'change')} to the input`;
};

/** All of it, a sentence each. */
export const remarkLines = (remarks: Remarks | undefined): readonly string[] => {
  const tier = tierWords(remarks);
  return [
    ...(remarks?.cache ? [cacheLine(remarks.cache)] : []),
    ...(remarks?.changes ?? []).map(changeLine),
    ...(tier === undefined ? [] : [`the provider served it with ${tier}`]),
  ];
};

const cacheLine = ({ said, missedTokens }: NonNullable<Remarks['cache']>): string => {
  const missed = missedTokens === undefined ? '' : `, ${countOf(missedTokens, 'token')} missed`;
  return `the provider says of its cache: ${said}${missed}`;
};

const changeLine = ({ what, why, where, tokens }: InputChange): string => {
  const place = where === undefined ? '' : ` at ${where}`;
  const reason = why === undefined ? '' : ` (${why})`;
  const taken = tokens === undefined ? '' : `, ${countOf(tokens, 'token')}`;
  const verb = what === ALLOWED ? 'the provider left the input as it was' : 'the provider changed the input';
  return `${verb}: ${what}${place}${reason}${taken}`;
};
