/** Grants for further calls, as the console lets people give them: for what, for how long, and in words. */
import { exactly, GRANT_MS_MAX, sameValues } from '../effect/grant.ts';
import { badInput } from '../errors.ts';
import type { Condition } from '../event/definition.ts';
import type { Grant } from '../event/events.ts';
import { parseStrict } from '../event/strict.ts';
import { leavesOf } from '../view/arguments.ts';
import { formatDuration } from '../view/format.ts';
import type { StandingGrant } from '../view/grant.ts';
import { conditionWords } from '../view/terms.ts';
import type { Input } from './command.ts';
import { givenDuration } from './duration.ts';
import { givenOption } from './given.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { line, own, SIGN, strong, type Shown } from './terminal/shown.ts';

/** Places named in an error. */
const PLACES_NAMED_MAX = 8;

/**
 * A grant for calls that are the same at these places; without any for the same call again. Throws `grant-invalid`.
 */
export const grantFor = (args: string, forMs: number, places: readonly string[]): Grant => {
  const parsed = parseStrict(args);
  const leaves = leavesOf(args);
  if (!parsed.ok) throw badInput('grant-invalid', 'These arguments are no JSON, so nothing can be granted.');
  if (forMs > GRANT_MS_MAX)
    throw badInput(
      'grant-invalid',
      `A grant lasts ${formatDuration(GRANT_MS_MAX)} at most, not ${formatDuration(forMs)}.`,
    );
  if (places.length === 0) {
    const exact = exactly(parsed.value);
    if (exact.ok) return { when: exact.when, forMs };
    throw badInput(
      'grant-invalid',
      `${exact.at} is a whole number beyond 2^53, which a grant cannot compare exactly. Name other places with --same.`,
      { at: exact.at },
    );
  }
  for (const place of places)
    if (place !== '' && !leaves.some(({ pointer }) => pointer === place || pointer.startsWith(`${place}/`))) {
      const known = leaves.slice(0, PLACES_NAMED_MAX).map(({ pointer }) => pointer);
      throw badInput(
        'grant-invalid',
        `--same "${place}" names nothing in this call. It has ${known.length === 0 ? 'no arguments' : known.join(', ')}.`,
        { place, known },
      );
    }
  return { when: sameValues(parsed.value, places), forMs };
};

/** What --grant and --same say; undefined where nothing. Throws `usage`, `duration-invalid`, `grant-invalid`. */
export const givenGrant = (input: Input, args: string): Grant | undefined => {
  const duration = givenOption(input, 'grant');
  const { same } = input.options;
  const places = Array.isArray(same) ? (same as readonly string[]) : [];
  if (duration === undefined && places.length > 0)
    throw badInput(
      'usage',
      '--same goes with --grant, which says for how long.',
      {},
      'onrecord help approve',
    );
  return duration === undefined ? undefined : grantFor(args, givenDuration('grant', duration), places);
};

/** What holds for the calls that a grant covers: what must be the same, what is free, and that nothing is added. */
export const conditionLines = (when: readonly Condition[], look: Look): Shown[] => {
  const told = when.filter((condition) => !('only' in condition));
  const closed = told.length < when.length;
  const words = [
    ...told.map((condition) => line`${conditionWords(condition)}`),
    ...freePlaces(when).map((place) => line`${place} may be anything`),
    ...(closed ? [own('and there is no argument more')] : []),
    ...(when.length === 0 ? [own('whatever the arguments are')] : []),
    ...(closed || when.length === 0 ? [] : [own('and whatever else there is')]),
  ];
  return words.flatMap((shown) =>
    wrap(fit(line`    ${shown}`, look), look.textColumns, { hanging: 6, strict: true }),
  );
};

/** Arguments that may be there and that no condition looks at. */
const freePlaces = (when: readonly Condition[]): readonly string[] =>
  when.flatMap((condition) =>
    'only' in condition
      ? condition.only
          .map((member) => `${condition.at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`)
          .filter((place) => !when.some(({ at }) => at === place || at.startsWith(`${place}/`)))
      : [],
  );

/** A grant that stands: for which tool and until when, who gave it, and what it covers. */
export const standingGrantLines = (
  { tool, call, seq, expiresAt, by, when }: StandingGrant,
  { look, time, me }: { readonly look: Look; readonly time: (ms: number) => string; readonly me: string },
): Shown[] => [
  ...wrap(
    fit(
      line`  ${tool} until ${time(expiresAt)}, given by ${by.name === me ? 'you' : by.name} with call ${call} (event ${seq}), where`,
      look,
    ),
    look.textColumns,
    { hanging: 2, strict: true },
  ),
  ...conditionLines(when, look),
];

/** After a grant was given. */
export const grantLines = (grant: Grant, tool: string, look: Look): Shown[] => [
  line`  ${SIGN.wait} Calls of ${strong(tool)} in this session run without a question for ${formatDuration(grant.forMs)}, where`,
  ...conditionLines(grant.when, look),
];
