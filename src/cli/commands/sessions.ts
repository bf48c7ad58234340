/** onrecord sessions: what there is, last changed first. */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import type { SessionStatus } from '../../event/summary.ts';
import type { SessionRow } from '../../log/store.ts';
import { formatCost, formatCount } from '../../view/format.ts';
import { STATUS_WORDS } from '../../view/session-head.ts';
import { waitsShort } from '../../view/waits.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { isHeld, isParked, modeLines, storeMode } from '../gate.ts';
import { statusShown } from '../session-lines.ts';
import type { Screen } from '../terminal/screen.ts';
import { dim, line, own, SIGN, theirs, whole, type Shown } from '../terminal/shown.ts';
import { table, type Row } from '../terminal/table.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 10_000;

export const sessions: Command = {
  name: 'sessions',
  summary: 'Lists the sessions of this store, last changed first.',
  arguments: [],
  options: [
    { flags: '--status <status>', description: `only these: ${Object.keys(STATUS_WORDS).join(', ')}` },
    { flags: '--agent <name>', description: 'only those of one agent' },
    { flags: '--limit <count>', description: 'rows at most', default: String(LIMIT_DEFAULT) },
  ],
  example: 'onrecord sessions --status waiting',
  exits: [EXIT.done, EXIT.usage, EXIT.store],
  async run(cli, { options }) {
    const { screen } = cli;
    const { limit, status, agent } = queryOf(options);
    const query = {
      limit: limit + 1,
      ...(status && { status: [status] }),
      ...(agent !== undefined && { agent }),
    };
    // Looking leaves nothing behind: a store that is not there is not made.
    const store = (await cli.storeIsThere()) ? await cli.store() : undefined;
    const found = (await store?.sessions(query)) ?? [];
    const rows = found.slice(0, limit);
    if (screen.jsonMode) {
      screen.json(
        rows.map(({ session, head, summary, fork, lease }) => ({
          session,
          events: head,
          ...summary,
          ...(lease && { lease: { worker: lease.owner.id, until: lease.until } }),
          ...(fork && { fork }),
        })),
      );
      return EXIT.done;
    }
    if (rows.length === 0) {
      const some = status !== undefined || agent !== undefined;
      screen.note(some ? line`No session is like that.` : await nothingYet(cli));
      return EXIT.done;
    }
    if (store) screen.out(...modeLines('The whole store', await storeMode(store), cli, screen.look));
    screen.out(...sessionTable(screen, rows));
    if (found.length > limit)
      screen.note(dim(line`The last ${limit} are shown. More: onrecord sessions --limit ${limit * 4}`));
    return EXIT.done;
  },
};

const nothingYet = async (cli: Cli): Promise<Shown> => {
  const { agents } = await cli.config();
  return agents.length === 0
    ? line`No session yet, and no agent is configured here. A project to begin with: onrecord init my-agent`
    : line`No session yet. Start one with onrecord run.`;
};

const queryOf = (
  options: Input['options'],
): {
  readonly limit: number;
  readonly status: SessionStatus | undefined;
  readonly agent: string | undefined;
} => {
  const { status, agent } = options;
  const limit = Number(options['limit'] ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw badInput(
      'usage',
      `"${String(options['limit'])}" is no limit. Give a whole number from 1 to ${formatCount(LIMIT_MAX)}.`,
    );
  if (status !== undefined && !isStatus(status))
    throw badInput(
      'usage',
      `There is no status "${String(status)}". There are ${Object.keys(STATUS_WORDS).join(', ')}.`,
    );
  return { limit, status, agent: typeof agent === 'string' ? agent : undefined };
};

const isStatus = (status: unknown): status is SessionStatus =>
  typeof status === 'string' && Object.hasOwn(STATUS_WORDS, status);

const sessionTable = (screen: Screen, rows: readonly SessionRow[]): readonly ReturnType<typeof line>[] => {
  const now = systemClock.now();
  return table(
    [
      { key: 'session', title: own('session') },
      { key: 'status', title: own('status') },
      { key: 'agent', title: own('agent'), drop: 1, least: 8, enough: 15 },
      { key: 'title', title: own('title'), least: 12, enough: 20 },
      { key: 'turns', title: own('turns'), align: 'right', drop: 3 },
      { key: 'cost', title: own('cost'), align: 'right', drop: 2 },
      { key: 'waits', title: own('waits for'), drop: 4 },
      { key: 'last', title: own('last activity'), align: 'right' },
    ],
    rows.map(({ session, summary, lease }): Row => {
      const { agent, title, status, turns, cost, updatedAt } = summary;
      return {
        session: whole(session),
        status: isParked(summary)
          ? line`${SIGN.fail} parked`
          : isHeld(summary)
            ? line`${SIGN.wait} frozen`
            : statusShown(status, theirs(status === 'in-doubt' ? 'in doubt' : status)),
        agent: theirs(agent),
        title: theirs(title),
        turns: theirs(formatCount(turns)),
        cost: theirs(formatCost(cost ?? undefined)),
        waits: theirs(waitsShort(summary, { now, driven: lease !== undefined && lease.until > now })),
        last: theirs(screen.time(updatedAt)),
      };
    }),
    { look: screen.look },
  ).lines;
};
