/** onrecord replay: the recorded facts through today's decider, every decision compared byte for byte. */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import type { LogEvent } from '../../event/events.ts';
import type { LogStore } from '../../log/store.ts';
import type { ReplayDifference, Replayed } from '../../replay/replay.ts';
import { countOf, formatDuration } from '../../view/format.ts';
import type { SessionRecord } from '../../view/record.ts';
import { requestPair, type RequestPair } from '../../view/request-difference.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenSeq, isGiven } from '../given.ts';
import { encodersOf, interrupted, overAll, replayed, replayedWhole, type EncoderOf } from '../proof.ts';
import { isUnreadable, openRecord, readRecord } from '../record.ts';
import { differLines, identicalLines, unknownLines, wholeDiffLines } from '../replay-report.ts';
import { showSteps } from '../replay-steps.ts';
import { standingLines } from '../standing-lines.ts';
import { standing } from '../../view/standing.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, line, own, SIGN, whole, type Shown } from '../terminal/shown.ts';

export const replay: Command = {
  name: 'replay',
  summary: 'Makes every decision of a session again from its recorded facts and compares it byte for byte.',
  arguments: [{ name: 'session', description: 'one session', required: false }],
  options: [
    { flags: '--all', description: 'every session of the store' },
    { flags: '--until <seq>', description: 'stop after this event and show how the session stands there' },
    { flags: '--step', description: 'show event by event what was given and what was compared' },
    { flags: '--diff', description: 'where it differs, show both sides whole' },
  ],
  example: 'onrecord replay --all',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const [session] = input.args;
    const all = isGiven(input, 'all');
    if ((session === undefined) !== all)
      throw badInput('usage', 'Name one session, or give --all.', {}, 'onrecord help replay');
    const until = givenSeq(input, 'until');
    if (all && (until !== undefined || isGiven(input, 'step') || isGiven(input, 'diff')))
      throw badInput('usage', '--until, --step and --diff go with one session.', {}, 'onrecord help replay');
    const store = await openRecord(cli);
    const encoderOf = await encodersOf(cli);
    if (session === undefined) return replayAll(cli, store, encoderOf);
    return new OneReplay(cli, store, encoderOf).run(session, input);
  },
};

class OneReplay {
  readonly #cli: Cli;
  readonly #store: LogStore;
  readonly #encoderOf: EncoderOf;

  constructor(cli: Cli, store: LogStore, encoderOf: EncoderOf) {
    this.#cli = cli;
    this.#store = store;
    this.#encoderOf = encoderOf;
  }

  async run(session: string, input: Input): Promise<ExitCode> {
    const { screen } = this.#cli;
    const until = givenSeq(input, 'until');
    // Not further than asked: what stands behind may be damaged, or newer than this program.
    const record = await readRecord(this.#store, session, until);
    const head = (await this.#store.head(session))?.seq ?? record.events.length;
    const began = systemClock.monotonic();
    const compared: LogEvent[] = [];
    const found = replayed({
      session,
      events: noting(record.events, compared),
      encoderOf: this.#encoderOf,
      until,
    });
    const ms = systemClock.monotonic() - began;
    const { difference } = found;
    if (screen.jsonMode)
      screen.json({ ...replayJson(found, ms), ...(until !== undefined && { state: standing(found.state) }) });
    else if (isGiven(input, 'step')) {
      const reached = compared.slice(0, found.events);
      const end = await showSteps(screen, reached);
      if (end === 'interrupted') return EXIT.interrupted;
    }
    if (!difference) {
      screen.out(...identicalLines(found, ms, head));
      if (until !== undefined) screen.out(...standingLines(found.state, screen.look));
      return EXIT.done;
    }
    await this.#differs(record, found, difference, isGiven(input, 'diff'));
    return EXIT.proofFailed;
  }

  async #differs(
    record: SessionRecord,
    found: Replayed,
    difference: ReplayDifference,
    diff: boolean,
  ): Promise<void> {
    const { screen } = this.#cli;
    const pair = await this.#pair(record, difference);
    const { seq: head = record.events.length } = (await this.#store.head(found.session)) ?? {};
    const report = { found, difference, record, head, look: screen.look, pair };
    screen.out(...differLines(report));
    if (diff) screen.out(...wholeDiffLines(report));
    else
      screen.next({
        command: command('replay', found.session, '--until', String(difference.seq), '--diff'),
      });
  }

  async #pair(record: SessionRecord, difference: ReplayDifference): Promise<RequestPair | undefined> {
    if (difference.type !== 'request.built' || difference.path === '') return undefined;
    return requestPair(record, {
      seq: difference.seq,
      encoderOf: this.#encoderOf,
      blob: (digest) => this.#store.blob(digest),
    });
  }
}

/** Hands events on and keeps those that were asked for: one is asked for when the one before was the same. */
function* noting(events: readonly LogEvent[], compared: LogEvent[]): Generator<LogEvent> {
  for (const event of events) {
    compared.push(event);
    yield event;
  }
}

const replayJson = (
  { session, events, decisions, requests, requestsUnknown, difference }: Replayed,
  ms: number,
): Readonly<Record<string, unknown>> => ({
  session,
  identical: difference === undefined,
  events,
  decisions,
  requests,
  requestsUnknown,
  difference: difference ?? null,
  ms,
});

const replayAll = async (cli: Cli, store: LogStore, encoderOf: EncoderOf): Promise<ExitCode> => {
  const sums: Sums = { sessions: 0, events: 0, decisions: 0, requests: 0, tooNew: 0, unknown: new Map() };
  const began = systemClock.monotonic();
  const wrong = await overAll(cli, store, (session) => replayOne(cli, store, { session, encoderOf, sums }));
  if (cli.interrupt.signal.aborted) return interrupted(cli, sums.sessions);
  cli.screen.out(...summaryLines(sums, wrong, systemClock.monotonic() - began));
  if (wrong > 0) return EXIT.proofFailed;
  return sums.tooNew > 0 ? EXIT.tooNew : EXIT.done;
};

type Sums = {
  sessions: number;
  events: number;
  decisions: number;
  requests: number;
  /** Sessions with events that this program does not know. */
  tooNew: number;
  /** Requests that were not compared, by provider. */
  readonly unknown: Map<string, number>;
};

type One = { readonly session: string; readonly encoderOf: EncoderOf; readonly sums: Sums };

const replayOne = async (
  { screen }: Cli,
  store: LogStore,
  { session, encoderOf, sums }: One,
): Promise<{ readonly wrong: boolean }> => {
  sums.sessions++;
  const began = systemClock.monotonic();
  try {
    const found = await replayedWhole(store, session, encoderOf);
    add(sums, found);
    if (screen.jsonMode) screen.jsonLine(replayJson(found, systemClock.monotonic() - began));
    else if (found.difference) {
      const { seq, type, path, area } = found.difference;
      const { seq: head = seq } = (await store.head(session)) ?? {};
      screen.out(
        line`${SIGN.fail} ${whole(session)} differs at event ${seq} of ${head}: ${type} ${whole(path)}  ${dim(area)}`,
      );
    }
    return { wrong: found.difference !== undefined };
  } catch (error) {
    // One session that cannot be read does not keep the others from being checked.
    if (!isUnreadable(error)) throw error;
    const tooNew = error.code === 'event-too-new';
    if (tooNew) sums.tooNew++;
    if (screen.jsonMode) screen.jsonLine({ session, identical: tooNew ? null : false, error: error.code });
    else
      screen.out(
        line`${tooNew ? SIGN.wait : SIGN.fail} ${whole(session)} cannot be replayed: ${error.message}`,
      );
    return { wrong: !tooNew };
  }
};

const add = (sums: Sums, { events, decisions, requests, requestsUnknown, state }: Replayed): void => {
  sums.events += events;
  sums.decisions += decisions;
  sums.requests += requests;
  const { provider } = state.agent.model;
  if (requestsUnknown > 0) sums.unknown.set(provider, (sums.unknown.get(provider) ?? 0) + requestsUnknown);
};

const summaryLines = (sums: Sums, wrong: number, ms: number): readonly Shown[] => {
  const { sessions, events, decisions, requests, tooNew } = sums;
  const counts = line`${countOf(events, 'event')}, ${countOf(decisions, 'decision')}, ${countOf(requests, 'request')} byte for byte`;
  const newer =
    tooNew > 0 ? line`, ${countOf(tooNew, 'session')} not judged: a newer program wrote them` : EMPTY;
  const verdict =
    wrong > 0
      ? [
          EMPTY,
          line`${SIGN.fail} ${countOf(wrong, 'session')} of ${sessions} differ${newer}.  ${dim(own('replay-differs'))}`,
        ]
      : [line`${SIGN.ok} ${countOf(sessions - tooNew, 'session')}, all identical: ${counts}${newer}.`];
  return [
    ...verdict,
    line`  No network, no tools, no clock. ${formatDuration(ms)}.`,
    ...[...sums.unknown].flatMap(([provider, count]) => unknownLines(count, provider)),
  ];
};
