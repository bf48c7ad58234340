/** onrecord show: one session as a conversation, as a timeline, event by event, or as the exact requests. */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { open, type StoredEvent } from '../../event/envelope.ts';
import type { LogStore } from '../../log/store.ts';
import { Reading } from '../../view/reading.ts';
import { sessionHead } from '../../view/session-head.ts';
import { transcript } from '../../view/transcript.ts';
import { timeline } from '../../view/timeline.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, givenSeq, isGiven } from '../given.ts';
import { openNamed } from '../named-record.ts';
import { readSession } from '../session-drive.ts';
import { nextSteps } from '../session-ending.ts';
import { headLines } from '../session-lines.ts';
import { eventLines, storedBytes } from '../show-event.ts';
import { showRequest } from '../show-request.ts';
import { timelineLines } from '../timeline-lines.ts';
import { transcriptLines } from '../transcript-lines.ts';
import { dim, EMPTY, line, type Shown } from '../terminal/shown.ts';

/** Lines of events that are shown unless --all is given. */
export const ROWS_SHOWN_MAX = 200;

export const show: Command = {
  name: 'show',
  summary: 'Shows a session: what was said, what happened when, one event, or an exact request.',
  arguments: [
    { name: 'session', description: 'the session, or a bundle file', required: true },
    { name: 'seq', description: 'one event instead', required: false },
  ],
  options: [
    { flags: '--conversation', description: 'what was said and done (the default)' },
    { flags: '--timeline', description: 'what happened when' },
    { flags: '--events', description: 'with --timeline: every event, one line each' },
    { flags: '--all', description: `all of it, not the last ${ROWS_SHOWN_MAX} lines` },
    { flags: '--until <seq>', description: 'as it stood after this event' },
    { flags: '--request <number>', description: 'the exact body of a request, counted from 1' },
    { flags: '--raw', description: 'with an event or a request: its bytes and nothing else' },
    { flags: '--pretty', description: 'with --request: the body as indented JSON (the default)' },
    { flags: '--diff', description: 'with --request: what the one before did not have' },
    { flags: '--full', description: 'digests in full' },
  ],
  example: 'onrecord show s_7Q2M4K8D --timeline',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const [name = ''] = input.args;
    const chosen = choiceOf(input);
    const { store, session } = await openNamed(cli, name);
    const until = givenSeq(input, 'until');
    if (chosen.kind === 'conversation') {
      const reading = await readSession(store, session, until);
      return showReading(cli, { store, reading, stored: [] }, chosen.kind, input);
    }
    const stored = await store.read(session, 1, until);
    if (chosen.kind === 'event') return showEvent(cli, { store, session, stored }, chosen.seq, input);
    const reading = new Reading(session, stored.map(open));
    if (chosen.kind === 'request') return showRequest(cli, { store, reading }, chosen.number, input);
    return showReading(cli, { store, reading, stored }, chosen.kind, input);
  },
};

type Choice =
  | { readonly kind: 'conversation' | 'timeline' }
  | { readonly kind: 'event'; readonly seq: number }
  | { readonly kind: 'request'; readonly number: number };

const choiceOf = (input: Input): Choice => {
  const [, seq] = input.args;
  const request = givenSeq(input, 'request');
  const kinds = [
    ...(seq === undefined ? [] : ['SEQ']),
    ...(request === undefined ? [] : ['--request']),
    ...['timeline', 'conversation'].filter((name) => isGiven(input, name)).map((name) => `--${name}`),
  ];
  if (kinds.length > 1)
    throw badInput(
      'usage',
      `${kinds.join(' and ')} do not go together. Give one of them.`,
      {},
      'onrecord help show',
    );
  if (request !== undefined) return { kind: 'request', number: request };
  if (seq === undefined)
    return { kind: isGiven(input, 'timeline') || isGiven(input, 'events') ? 'timeline' : 'conversation' };
  if (!/^[1-9]\d{0,14}$/.test(seq))
    throw badInput('usage', `"${seq}" is no event. Events are counted from 1.`, {}, 'onrecord help show');
  return { kind: 'event', seq: Number(seq) };
};

type Stored = { readonly store: LogStore; readonly session: string; readonly stored: readonly StoredEvent[] };

const showEvent = (cli: Cli, { session, stored }: Stored, seq: number, input: Input): ExitCode => {
  const { screen } = cli;
  const one = stored[seq - 1];
  if (!one)
    throw badInput(
      'event-not-found',
      `Session ${session} has no event ${seq}. Its last one is event ${stored.length}.`,
      { session, seq, events: stored.length },
    );
  if (isGiven(input, 'raw')) {
    screen.bytes(storedBytes(one));
    return EXIT.done;
  }
  const { type, at, data } = open(one);
  if (screen.jsonMode) {
    screen.json({ seq, at, type, data, hash: one.hash });
    return EXIT.done;
  }
  const reading = new Reading(session, stored.slice(0, seq).map(open));
  screen.out(...eventLines(screen, reading, one, { full: isGiven(input, 'full'), me: cli.actor.name }));
  return EXIT.done;
};

type Read = {
  readonly store: LogStore;
  readonly reading: Reading;
  readonly stored: readonly StoredEvent[];
};

const showReading = async (
  cli: Cli,
  { store, reading, stored }: Read,
  kind: 'conversation' | 'timeline',
  input: Input,
): Promise<ExitCode> => {
  const { screen } = cli;
  const options = {
    me: cli.actor.name,
    now: systemClock.now(),
    ...(!isGiven(input, 'all') && { rowsMax: ROWS_SHOWN_MAX }),
  };
  if (screen.jsonMode) {
    for (const { seq, at, type, data } of reading.events) screen.jsonLine({ event: { seq, at, type, data } });
    return EXIT.done;
  }
  const past = await pastLines(store, reading, input);
  screen.out(...headLines(sessionHead(reading), screen.look), ...past);
  if (kind === 'timeline') {
    const time = timeline(reading, { ...options, everyEvent: isGiven(input, 'events') });
    const lines = timelineLines(screen, reading, time.rows, {
      full: isGiven(input, 'full'),
      hashOf: (seq) => stored[seq - 1]?.hash ?? '',
    });
    screen.out(...aboveLines(time.above, reading, kind), ...lines);
  } else {
    const said = transcript(reading, options);
    screen.out(...aboveLines(said.above, reading, kind), ...transcriptLines(screen, reading, said.rows));
  }
  if (past.length > 0) return EXIT.done;
  const [first, second] = nextSteps(reading.state);
  if (first) screen.next(first, ...(second ? ([second] as const) : []));
  return EXIT.done;
};

/** One line that says that this is the past. */
const pastLines = async (store: LogStore, reading: Reading, input: Input): Promise<Shown[]> => {
  if (givenOption(input, 'until') === undefined) return [];
  const { session, seq } = reading.state;
  const head = (await store.head(session))?.seq ?? seq;
  if (head <= seq) return [];
  return [line`As it stood after event ${seq}. ${head - seq} later ones are not shown.`];
};

const aboveLines = (above: number, reading: Reading, kind: string): Shown[] =>
  above === 0
    ? []
    : [EMPTY, dim(line`… ${above} earlier lines: onrecord show ${reading.state.session} --${kind} --all`)];
