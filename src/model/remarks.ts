/**
 * What the official APIs say about their work on a request beside the counts, in one form. Only words that a reply
 * holds are taken over; lists are cut, the whole stands in the stored reply.
 *
 * Sources: the types of @anthropic-ai/sdk 1.14 (`diagnostics`, `input_transformations`, `context_management`) and of
 * openai 7.59 (`prompt_cache_diagnostics`, `input_transformations`, `service_tier`).
 */
import type { InputChange, Remarks } from '../event/content.ts';

type Members = Readonly<Record<string, unknown>>;

/** Changes of one reply that are kept as data. */
const CHANGES_MAX = 100;
/** Characters of one word or place. */
const WORD_CHARS_MAX = 200;

const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

const word = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, WORD_CHARS_MAX) : undefined;

const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;

type Found = {
  readonly cache?: Remarks['cache'] | undefined;
  readonly changes: readonly (InputChange | undefined)[];
  readonly tier?: string | undefined;
};

const remarks = ({ cache, changes, tier }: Found): Remarks | undefined => {
  const known = changes.filter((change) => change !== undefined).slice(0, CHANGES_MAX);
  if (!cache && known.length === 0 && tier === undefined) return undefined;
  return {
    ...(cache && { cache }),
    ...(known.length > 0 && { changes: known }),
    ...(tier !== undefined && { tier }),
  };
};

const cacheOf = (said: string | undefined, missed: unknown): Remarks['cache'] | undefined => {
  const missedTokens = count(missed);
  return said === undefined ? undefined : { said, ...(missedTokens !== undefined && { missedTokens }) };
};

const changeOf = (
  what: unknown,
  {
    reason,
    where,
    tokens,
  }: { readonly reason?: unknown; readonly where?: unknown; readonly tokens?: unknown },
): InputChange | undefined => {
  const [said, why, place, taken] = [word(what), word(reason), word(where), count(tokens)];
  return said === undefined
    ? undefined
    : {
        what: said,
        ...(why !== undefined && { why }),
        ...(place !== undefined && { where: place }),
        ...(taken !== undefined && { tokens: taken }),
      };
};

const list = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.map(members) : []);

/** `message` is an Anthropic message; of a stream, its start with what its last event replaced. */
export const anthropicRemarks = (message: Members): Remarks | undefined => {
  const { diagnostics, input_transformations: transformed, context_management: managed, usage } = message;
  const edits = members(managed)['applied_edits'];
  return remarks({
    cache: missOf(diagnostics),
    changes: [
      ...list(transformed).map(({ type, reason, path }) => changeOf(type, { reason, where: path })),
      ...list(edits).map(({ type, cleared_input_tokens: tokens }) => changeOf(type, { tokens })),
    ],
    tier: word(members(usage)['service_tier']),
  });
};

/** `null` for all: nothing was asked, or nothing was missed. A reason of `null`: the comparison was not done in time. */
const missOf = (diagnostics: unknown): Remarks['cache'] | undefined => {
  if (typeof diagnostics !== 'object' || diagnostics === null) return undefined;
  const { cache_miss_reason: reason } = diagnostics as Members;
  if (reason === null) return { said: 'pending' };
  const { type, cache_missed_input_tokens: missed } = members(reason);
  return cacheOf(word(type), missed);
};

/** `response` is a response of the OpenAI Responses API, or a chunk of Chat Completions, which say less. */
export const openaiRemarks = (response: Members): Remarks | undefined => {
  const {
    prompt_cache_diagnostics: diagnostics,
    input_transformations: transformed,
    service_tier: tier,
  } = response;
  const { type, reason, cache_missed_tokens: missed } = members(diagnostics);
  return remarks({
    // A miss says why; a hit, an unknown response and a failure to compare say so by their type.
    cache: cacheOf(word(reason) ?? word(type), missed),
    changes: list(transformed).map((one) =>
      changeOf([one['type'], one['action']].filter((said) => word(said) !== undefined).join(' '), {
        reason: one['reason'],
        where: one['id'],
      }),
    ),
    tier: word(tier),
  });
};
