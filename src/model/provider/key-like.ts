/**
 * What looks like a key in a text that foreign code wrote. The value is not known here, so this can only guess: it
 * knows the prefixes of common keys and the places where keys stand. Known credentials have a mask of their own.
 */
import { SECRET_CHARS_MIN } from '../../secret/mask.ts';

const MASKED = '[key]';

/** Keys that say what they are: OpenAI, Anthropic, Groq, xAI, Google, AWS, GitHub, Hugging Face, Slack; JSON Web Tokens. */
const BY_PREFIX: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|xox[abprs]|r8|pplx|csk|tgp|nvapi|fw|co)[-_][A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];

const VALUE = `[^\\s"'<>,;&\\\\)\\]}]{${SECRET_CHARS_MIN},}`;

/** Where keys stand: a header, a member, a query parameter, user and password of a URL. What stands before stays. */
const BY_PLACE: readonly RegExp[] = [
  new RegExp(`(\\b(?:bearer|basic)\\s+)${VALUE}`, 'gi'),
  new RegExp(
    `(\\b(?:x-)?(?:goog-)?(?:api[-_ ]?key|apikey|access[-_ ]?token|auth[-_ ]?token|client[-_ ]?secret|authorization)\\\\?["']?\\s*[:=]\\s*\\\\?["']?)(?!(?:bearer|basic)\\b)${VALUE}`,
    'gi',
  ),
  /([?&](?:key|token|sig|signature)=)[^\s"'<>&]{6,}/gi,
  /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+:[^\s/@"'<>]+(?=@)/gi,
];

/** The text with each of them replaced by `[key]`. */
export const withoutKeys = (text: string): string => {
  const placed = BY_PLACE.reduce((shown, place) => shown.replace(place, `$1${MASKED}`), text);
  return BY_PREFIX.reduce((shown, prefix) => shown.replace(prefix, MASKED), placed);
};
