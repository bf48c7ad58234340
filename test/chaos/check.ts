/**
 * The invariants, looked at from outside when all has come to rest: the logs, the world, and what was acknowledged to
 * whom. The words in brackets are those of the promises in src/log/store.ts and ARCHITECTURE.md.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { LogStore } from '../../src/log/store.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { verify } from '../../src/replay/verify.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { deedsIn, type Deed } from './agent.ts';
import type { Acknowledged } from './worker-process.ts';
import { linesIn } from '../kit/lines.ts';

export type Checked = {
  readonly events: number;
  readonly acknowledged: number;
  readonly deeds: number;
  readonly takeovers: number;
  readonly parked: number;
  readonly problems: readonly string[];
};

/** Problems of one kind that are told of; their number is said. */
const TOLD_MAX = 20;

export type CheckOptions = {
  readonly store: LogStore;
  readonly folder: string;
  readonly sessions: readonly string[];
};

export const checkAll = async ({ store, folder, sessions }: CheckOptions): Promise<Checked> => {
  const problems: string[] = [];
  const acknowledged = acknowledgedIn(folder);
  const deeds = deedsIn(join(folder, 'world'));
  const bySession = Map.groupBy(deeds, ({ call }) => call.split(' ', 1)[0] ?? '');
  const counts = { events: 0, takeovers: 0, parked: 0 };
  for (const session of sessions) {
    const stored = await store.read(session);
    const events = stored.map(open);
    counts.events += events.length;
    counts.takeovers += events.filter(({ type }) => type === 'driver.changed').length;
    counts.parked += events.filter(({ type }) => type === 'session.parked').length;
    const { findings } = await verify(store, session, {
      replay: { encoderOf: () => neutralEncoder, program: PROGRAM },
    });
    const found = [
      ...findings.map(({ message }) => message),
      ...acknowledgedProblems(
        acknowledged.get(session) ?? [],
        stored.map(({ hash }) => hash),
      ),
      ...logProblems(events),
      ...deedProblems(events, bySession.get(session) ?? []),
    ];
    problems.push(...found.map((problem) => `${session}: ${problem}`));
  }
  const more = problems.length - TOLD_MAX;
  return {
    ...counts,
    deeds: deeds.length,
    acknowledged: [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0),
    problems: more > 0 ? [...problems.slice(0, TOLD_MAX), `and ${more} more`] : problems,
  };
};

const acknowledgedIn = (folder: string): Map<string, Acknowledged[]> => {
  const all = new Map<string, Acknowledged[]>();
  for (const name of readdirSync(folder).filter((file) => file.startsWith('acknowledged-')))
    for (const line of linesIn(join(folder, name))) {
      const said = JSON.parse(line) as Acknowledged;
      all.set(said.session, [...(all.get(said.session) ?? []), said]);
    }
  return all;
};

/** What was acknowledged is there for ever; no event of a lower epoch stands behind one of a higher. */
const acknowledgedProblems = (
  said: readonly Acknowledged[],
  hashes: readonly string[],
): readonly string[] => {
  const problems: string[] = [];
  const epochs: { readonly seq: number; readonly epoch: number }[] = [];
  for (const { events, epoch } of said)
    for (const [seq, hash] of events) {
      if (hashes[seq - 1] !== hash) problems.push(`event ${seq} was acknowledged and is not there any more`);
      if (epoch !== undefined) epochs.push({ seq, epoch });
    }
  epochs.sort((a, b) => a.seq - b.seq);
  let highest = 0;
  for (const { seq, epoch } of epochs) {
    if (epoch < highest)
      problems.push(`event ${seq} of epoch ${epoch} stands behind one of epoch ${highest}`);
    highest = Math.max(highest, epoch);
  }
  return problems;
};

/** One result for each attempt, one decision for each question, one end for each turn, one turn for each key. */
const logProblems = (events: readonly LogEvent[]): readonly string[] => {
  const problems: string[] = [];
  const seen = new Set<string>();
  const onlyOnce = (what: string): void => {
    if (seen.has(what)) problems.push(`${what} is there twice`);
    seen.add(what);
  };
  for (const event of events) {
    if (event.type === 'call.result') onlyOnce(`the result of ${event.data.call}#${event.data.attempt}`);
    if (event.type === 'approval.decided') onlyOnce(`the decision about ${event.data.digest}`);
    if (event.type === 'turn.ended') onlyOnce(`the end of turn ${event.data.turn}`);
    if (event.type === 'turn.accepted') onlyOnce(`the turn of key ${event.data.key}`);
  }
  const accepted = events.filter(({ type }) => type === 'turn.accepted').length;
  const ended = events.filter(({ type }) => type === 'turn.ended').length;
  if (accepted !== ended) problems.push(`${accepted} turns were accepted and ${ended} have ended`);
  return problems;
};

/** No deed without its intent on record, none of kind once twice, one key for each call. */
const deedProblems = (events: readonly LogEvent[], deeds: readonly Deed[]): readonly string[] => {
  const problems: string[] = [];
  const started = new Set(
    events.flatMap((event) =>
      event.type === 'call.started' ? [`${event.data.call}#${event.data.attempt}`] : [],
    ),
  );
  const approved = new Set(
    events.flatMap((event) => (event.type === 'approval.decided' ? [event.data.call as string] : [])),
  );
  const asked = new Set(
    events.flatMap((event) => (event.type === 'approval.requested' ? [event.data.call as string] : [])),
  );
  const keys = new Map<string, string>();
  const times = new Map<string, number>();
  for (const { call, effect, key, attempt } of deeds) {
    const [, id = ''] = call.split(' ');
    if (!started.has(`${id}#${attempt}`))
      problems.push(`${id}#${attempt} was done and its start is not on record`);
    if (asked.has(id) && !approved.has(id)) problems.push(`${id} was done and nobody had approved it`);
    if ((keys.get(call) ?? key) !== key) problems.push(`${id} had two keys`);
    keys.set(call, key);
    times.set(call, (times.get(call) ?? 0) + 1);
    if ((effect === 'once' || effect === 'reconcilable') && times.get(call) === 2)
      problems.push(`${id} of kind ${effect} was done twice`);
  }
  return problems;
};
