/** onrecord replay: the recorded facts through today's decider, every decision compared byte for byte. */
import { systemClock } from '../../clock.ts';
import { badInput, isOnrecordError } from '../../errors.ts';
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
import { encodersOf, interrupted, overAll, replayed, type EncoderOf } from '../proof.ts';
import { openNamed, refuseRemoved } from '../named-record.ts';
import { openRecord, readRecord } from '../record.ts';
import { differLines, identicalLines, unknownLines, wholeDiffLines } from '../replay-report.ts';
import { showSteps } from '../replay-steps.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, line, own, SIGN, whole } from '../terminal/shown.ts';

export const replay: Command = {
  name: 'replay',
  summary: 'Makes every decision of a session again from its recorded facts and compares it byte for byte.',
  arguments: [{ name: 'session', description: 'one session, or a bundle file', required: false }],
  options: [
    { flags: '--all', description: 'every session of the store' },
    { flags: '--until <seq>', description: 'stop after this event' },
    { flags: '--step', description: 'show event by event what was given and what was compared' },
    { flags: '--diff', description: 'where it differs, show both sides whole' },
  ],
  example: 'onrecord replay --all',
  exits: [EXIT.done, EXIT.usage, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const [session] = input.args;
    const all = isGiven(input, 'all');
    if ((session === undefined) !== all)
      throw badInput('usage', 'Name one session, or give --all.', {}, 'onrecord help replay');
    const until = givenSeq(input, 'until');
    if (all && (until !== undefined || isGiven(input, 'step') || isGiven(input, 'diff')))
      throw badInput('usage', '--until, --step and --diff go with one session.', {}, 'onrecord help replay');
    const encoderOf = await encodersOf(cli);
    if (session === undefined) return replayAll(cli, await openRecord(cli), encoderOf);
    const named = await openNamed(cli, session);
    refuseRemoved(named, 'replayed');
    return new OneReplay(cli, named.store, encoderOf).run(named.session, input);
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
    const record = await readRecord(this.#store, session);
    const until = givenSeq(input, 'until');
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
    if (screen.jsonMode) screen.json(replayJson(found, ms));
    else if (isGiven(input, 'step')) {
      const reached = compared.slice(0, found.events);
      const end = await showSteps(screen, reached);
      if (end === 'interrupted') return EXIT.interrupted;
    }
    if (!difference) {
      screen.out(...identicalLines(found, ms, record.events.length));
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
    const report = { found, difference, record, look: screen.look, pair };
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
  const { screen } = cli;
  const began = systemClock.monotonic();
  const unknown = new Map<string, number>();
  let [sessions, events, decisions, requests] = [0, 0, 0, 0];
  const wrong = await overAll(cli, store, async (session) => {
    sessions++;
    try {
      const record = await readRecord(store, session);
      const sessionBegan = systemClock.monotonic();
      const found = replayed({ session, events: record.events, encoderOf });
      events += found.events;
      decisions += found.decisions;
      requests += found.requests;
      const { provider } = found.state.agent.model;
      if (found.requestsUnknown > 0)
        unknown.set(provider, (unknown.get(provider) ?? 0) + found.requestsUnknown);
      if (screen.jsonMode) screen.jsonLine(replayJson(found, systemClock.monotonic() - sessionBegan));
      else if (found.difference) {
        const { seq, type, path } = found.difference;
        screen.out(
          line`${SIGN.fail} ${whole(session)} differs at event ${seq} of ${record.events.length}: ${type} ${whole(path)}`,
        );
      }
      return { wrong: found.difference !== undefined };
    } catch (error) {
      // One damaged session does not keep the others from being checked.
      if (!isOnrecordError(error) || error.next !== 'corrupt') throw error;
      if (screen.jsonMode) screen.jsonLine({ session, identical: false, error: error.code });
      else screen.out(line`${SIGN.fail} ${whole(session)} cannot be replayed: ${error.message}`);
      return { wrong: true };
    }
  });
  if (cli.interrupt.signal.aborted) return interrupted(cli, sessions);
  const sums = line`${countOf(events, 'event')}, ${countOf(decisions, 'decision')}, ${countOf(requests, 'request')} byte for byte`;
  const time = formatDuration(systemClock.monotonic() - began);
  if (wrong > 0)
    screen.out(
      EMPTY,
      line`${SIGN.fail} ${countOf(wrong, 'session')} of ${sessions} differ.  ${dim(own('replay-differs'))}`,
    );
  else screen.out(line`${SIGN.ok} ${countOf(sessions, 'session')}, all identical: ${sums}.`);
  screen.out(line`  No network, no tools, no clock. ${time}.`);
  for (const [provider, count] of unknown) screen.out(...unknownLines(count, provider));
  return wrong > 0 ? EXIT.proofFailed : EXIT.done;
};
