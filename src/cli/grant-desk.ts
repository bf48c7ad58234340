/** A grant for further calls, proposed from a call's own arguments: each value a line that can be switched off. */
import { checkGrant, exactly, GRANT_MS } from '../effect/grant.ts';
import { bug } from '../errors.ts';
import type { Condition } from '../event/definition.ts';
import type { Grant } from '../event/events.ts';
import { parseStrict } from '../event/strict.ts';
import type { Approval } from '../view/approval.ts';
import { formatDuration } from '../view/format.ts';
import { conditionWords } from '../view/terms.ts';
import type { Cli } from './cli.ts';
import { Pager } from './pager.ts';
import { wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { dim, EMPTY, line, own, SIGN, strong, type Shown } from './terminal/shown.ts';

export type Granted =
  | { readonly kind: 'given'; readonly grant: Grant }
  /** The card goes on as it was. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'interrupted' };

const HOUR_MS: number = 60 * 60 * 1000;
/** What can be chosen, shortest first. */
const TIMES_MS: readonly number[] = [HOUR_MS / 4, GRANT_MS, 8 * HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];
/** Keys of lines; t, y, k, q and ? have a meaning of their own. */
const LINE_KEYS: readonly string[] = Array.from('123456789abcdefghijlmnoprsuvwxz');

type Line = { readonly condition: Condition; readonly key: string | undefined; on: boolean };

export const askGrant = async (cli: Cli, approval: Approval): Promise<Granted> => {
  const args = parseStrict(approval.args);
  if (!args.ok) throw bug('recorded arguments are canonical JSON', { call: approval.call });
  const exact = exactly(args.value);
  if (!exact.ok) return refused(cli, exact.at);
  const closed = exact.when.filter((condition) => 'only' in condition);
  const lines: readonly Line[] = exact.when
    .filter((condition) => !('only' in condition))
    .map((condition, index) => ({ condition, key: LINE_KEYS[index], on: true }));
  let forMs = GRANT_MS;
  for (;;) {
    const grant: Grant = {
      when: [...lines.flatMap(({ condition, on }) => (on ? [condition] : [])), ...closed],
      forMs,
    };
    const problem = checkGrant(grant, args.value);
    const answer = await pagerOf(cli, approval, lines, { forMs, problem }).ask();
    if (answer.kind === 'interrupted') return { kind: 'interrupted' };
    if (answer.kind !== 'key') return { kind: 'kept' };
    const { key } = answer;
    if (key === 'y' && problem === undefined) return { kind: 'given', grant };
    const chosen = lines.find((one) => one.key === key);
    if (chosen) chosen.on = !chosen.on;
    else if (key === 't') forMs = TIMES_MS[(TIMES_MS.indexOf(forMs) + 1) % TIMES_MS.length] ?? GRANT_MS;
    else if (key !== 'y') {
      cli.screen.note(own('  Nothing was granted, and nothing approved.'));
      return { kind: 'kept' };
    }
  }
};

const refused = ({ screen }: Cli, at: string): Granted => {
  screen.note(
    line`${SIGN.fail} ${at} is a whole number beyond 2^53, which a grant cannot compare exactly. Approve each call.`,
  );
  return { kind: 'kept' };
};

const pagerOf = (
  { screen }: Cli,
  { tool }: Approval,
  lines: readonly Line[],
  { forMs, problem }: { readonly forMs: number; readonly problem: string | undefined },
): Pager => {
  const look = screen.noteLook;
  const keys = lines.flatMap(({ key }) => key ?? []);
  const [first, last] = [keys.at(0), keys.at(-1)];
  const range =
    first === last ? line`${strong(first ?? '')}` : line`${strong(first ?? '')} to ${strong(last ?? '')}`;
  return new Pager(screen, {
    head: [
      EMPTY,
      ...wrap(
        fit(
          line`${strong(own('Grant'))}   further calls of ${strong(tool)} in this session run without a question, where`,
          look,
        ),
        look.textColumns,
        { hanging: 2 },
      ),
    ],
    body: [...lines.flatMap((one) => lineLines(one, look)), own('       [x] there is no argument more')],
    foot: [
      line`for ${strong(formatDuration(forMs))}, then each is asked about again`,
      ...(problem === undefined ? [] : [line`${SIGN.wait} It cannot be granted: ${problem}.`]),
      ...(keys.length === 0 ? [] : [line`  ${range} switch a line on or off`]),
    ],
    choices: [
      { key: 'y', words: own('approve and grant it') },
      { key: 't', words: own('another time') },
      { key: 'k', words: own('no grant') },
    ],
    deciding: ['y'],
    hidden: [...keys, 'q', 'escape'],
  });
};

const lineLines = ({ condition, key, on }: Line, look: Look): Shown[] => {
  const lead = line`    ${strong(key ?? ' ')}  ${on ? own('[x]') : own('[ ]')} `;
  const said = on ? line`${conditionWords(condition)}` : line`${condition.at} ${dim(own('may be anything'))}`;
  return wrap(fit(line`${lead}${said}`, look), look.textColumns, { hanging: 11, strict: true });
};
