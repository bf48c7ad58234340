/** onrecord show: one session as a conversation, as a timeline, event by event, or as the exact requests and replies. */
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
import { modeLines, sessionMode, storeMode } from '../gate.ts';
import { givenOption, givenSeq, isGiven } from '../given.ts';
import { knownEvents, readKnown } from '../record.ts';
import { openNamed } from '../named-record.ts';
import { nextSteps } from '../session-ending.ts';
import { headLines } from '../session-lines.ts';
import { waitsLines } from '../waits-lines.ts';
import { eventLines, storedBytes, unknownLines } from '../show-event.ts';
import { showReply } from '../show-reply.ts';
import { showRequest } from '../show-request.ts';
import { timelineLines } from '../timeline-lines.ts';
import { transcriptLines } from '../transcript-lines.ts';
import { dim, EMPTY, join, line, own, whole, type Shown } from '../terminal/shown.ts';

/** Lines of events that are shown unless --all is given. */
export const ROWS_SHOWN_MAX = 200;
/** Forks that are named above a session. */
const FORKS_SHOWN_MAX = 5;

export const show: Command = {
  name: 'show',
  summary: 'Shows a session: what was said, what happened when, one event, or an exact request or reply.',
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
    { flags: '--reply <number>', description: 'the reply to a request as it came, counted like the request' },
    { flags: '--attempt <number>', description: 'with --reply: of this attempt, not of the last one' },
    { flags: '--raw', description: 'with an event, a request or a reply: its bytes and nothing else' },
    { flags: '--pretty', description: 'with --request or --reply: as indented JSON (the default)' },
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
    // Only a timeline shows hashes, and only an event its bytes.
    const exact = chosen.kind === 'event' || chosen.kind === 'timeline';
    const stored = exact ? await store.read(session, 1, until) : [];
    if (chosen.kind === 'event') return showEvent(cli, { store, session, stored }, chosen.seq, input);
    const { events, tooNew } = exact ? knownEvents(stored) : await readKnown(store, session, until);
    const reading = new Reading(session, events);
    const code = await showChosen(cli, { store, reading, stored }, chosen, input);
    // What can be shown was shown; why the rest cannot is said last.
    if (tooNew) throw tooNew;
    return code;
  },
};

type Choice =
  | { readonly kind: 'conversation' | 'timeline' }
  | { readonly kind: 'event'; readonly seq: number }
  | { readonly kind: 'request'; readonly number: number }
  | { readonly kind: 'reply'; readonly number: number; readonly attempt: number | undefined };

const showChosen = (
  cli: Cli,
  read: Read,
  chosen: Exclude<Choice, { kind: 'event' }>,
  input: Input,
): Promise<ExitCode> => {
  switch (chosen.kind) {
    case 'request':
      return showRequest(cli, read, chosen.number, input);
    case 'reply':
      return showReply(cli, read, chosen, input);
    default:
      return showReading(cli, read, chosen.kind, input);
  }
};

const choiceOf = (input: Input): Choice => {
  const [, seq] = input.args;
  const request = givenSeq(input, 'request');
  const reply = givenSeq(input, 'reply');
  const attempt = givenSeq(input, 'attempt');
  if (attempt !== undefined && reply === undefined)
    throw badInput('usage', '--attempt goes with --reply.', {}, 'onrecord help show');
  const kinds = [
    ...(seq === undefined ? [] : ['SEQ']),
    ...(request === undefined ? [] : ['--request']),
    ...(reply === undefined ? [] : ['--reply']),
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
  if (reply !== undefined) return { kind: 'reply', number: reply, attempt };
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
  const { events, tooNew } = knownEvents(stored.slice(0, seq));
  if (tooNew && events.length === seq - 1) screen.out(...unknownLines(one));
  if (tooNew) throw tooNew;
  const { type, at, data } = open(one);
  if (screen.jsonMode) {
    screen.json({ seq, at, type, data, hash: one.hash });
    return EXIT.done;
  }
  const reading = new Reading(session, events);
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
  const gate = await storeMode(store);
  screen.out(
    ...headLines(sessionHead(reading), screen.look),
    ...(past.length > 0 ? [] : await waitsLines(store, reading.state)),
    ...(await familyLines(store, reading)),
    ...modeLines('This session', sessionMode(reading.events), cli, screen.look),
    ...(past.length > 0 ? [] : modeLines('The whole store', gate, cli, screen.look)),
    ...past,
  );
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
  const [first, second] = nextSteps(reading.state, gate.mode);
  if (first) screen.next(first, ...(second ? ([second] as const) : []));
  return EXIT.done;
};

/** Where the session branches off from, and what branches off from it. */
const familyLines = async (store: LogStore, reading: Reading): Promise<Shown[]> => {
  const { session, fork } = reading.state;
  const forked = fork && reading.events[fork.seq - 1];
  const parent =
    forked?.type === 'session.forked'
      ? [line`Branches off from ${whole(forked.data.parent.session)} behind event ${forked.data.parent.seq}.`]
      : [];
  const rows = await store.sessions({ forkOf: session, limit: FORKS_SHOWN_MAX + 1 });
  const places = rows
    .slice(0, FORKS_SHOWN_MAX)
    .map((row) => line`${whole(row.session)} behind event ${row.fork?.seq ?? 0}`);
  const more = rows.length > FORKS_SHOWN_MAX ? own(', …') : EMPTY;
  return places.length === 0 ? parent : [...parent, line`Forks: ${join(places, own(', '))}${more}`];
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
