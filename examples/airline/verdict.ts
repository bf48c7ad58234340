/** Whether a session says and does what its recording says: results, executions, end state, requests. */
import { open } from '../../src/event/envelope.ts';
import type { LogEvent, LogStore } from '../../src/index.ts';
import type { AirlineDatabase } from './database.ts';
import { RECORDING_ENDS, type Recording } from './recording.ts';
import { difference, malformed, sentRequests } from './requests.ts';
import { meaning } from './text.ts';

export type Verdict = {
  readonly id: string;
  readonly turns: number;
  readonly requests: number;
  readonly calls: number;
  /** Results that are the recorded ones as values, and those that are so byte for byte. */
  readonly sameResults: number;
  readonly sameBytes: number;
  /** Writes carried out, those that took effect, and those that the airline refused. */
  readonly executed: number;
  readonly took: number;
  /** Attempts after the first: the process was lost while the call ran. */
  readonly restarted: number;
  /** Why the conversation does not reproduce; empty where it does. */
  readonly problems: readonly string[];
};

/** Events of a session, oldest first. */
export const eventsOf = async (store: LogStore, session: string): Promise<readonly LogEvent[]> =>
  (await store.read(session)).map(open);

export const judge = async (
  recording: Recording,
  place: { readonly store: LogStore; readonly session: string; readonly database: AirlineDatabase },
): Promise<Verdict> => {
  const { store, session, database } = place;
  const events = await eventsOf(store, session);
  const requests = await sentRequests(store, events);
  const results = compareResults(events, recording);
  const writes = database.writes();
  const apart = difference(requests, recording);
  const problems = [
    ...results.problems,
    ...turnProblems(events, recording),
    ...writeProblems(writes, recording),
    ...requests.flatMap((request, i) => malformed(request).map((what) => `request ${i + 1}, ${what}`)),
    ...(apart === undefined ? [] : [apart]),
    ...(database.digest() === recording.final_sha256 ? [] : ['the database at the end is another one']),
  ];
  return {
    id: recording.id,
    turns: events.filter(({ type }) => type === 'turn.ended').length,
    requests: requests.length,
    calls: results.calls,
    sameResults: results.same,
    sameBytes: results.bytes,
    executed: writes.length,
    took: writes.filter(({ ok }) => ok).length,
    restarted: events.filter((event) => event.type === 'call.started' && event.data.attempt > 1).length,
    problems,
  };
};

type Compared = {
  readonly calls: number;
  readonly same: number;
  readonly bytes: number;
  readonly problems: readonly string[];
};

const compareResults = (events: readonly LogEvent[], { messages }: Recording): Compared => {
  const got = events.flatMap((event) => (event.type === 'call.result' ? [event.data] : []));
  const recorded = messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
  const problems: string[] = [];
  let [same, bytes] = [0, 0];
  for (const [i, { content, name }] of recorded.entries()) {
    const outcome = got[i]?.outcome;
    const part = outcome?.kind === 'ok' ? outcome.content[0] : undefined;
    const text = part?.type === 'text' ? part.text : undefined;
    if (text === content) bytes++;
    if (text !== undefined && meaning(text) === meaning(content)) same++;
    else
      problems.push(`result ${i + 1} (${name}) is ${JSON.stringify(text ?? outcome ?? null).slice(0, 160)}`);
  }
  if (got.length !== recorded.length)
    problems.push(`${got.length} results, the recording has ${recorded.length}`);
  return { calls: got.length, same, bytes, problems };
};

/** Every turn is done, but the last: there the recording has no answer any more. */
const turnProblems = (events: readonly LogEvent[], { messages }: Recording): readonly string[] => {
  const ended = events.flatMap((event) => (event.type === 'turn.ended' ? [event.data] : []));
  const turns = messages.filter(({ role }) => role === 'user').length;
  const problems = ended.slice(0, -1).flatMap(({ turn, outcome, message }) => {
    return outcome === 'done' ? [] : [`turn ${turn} is ${outcome}: ${message ?? ''}`];
  });
  const last = ended.at(-1);
  if (ended.length !== turns) problems.push(`${ended.length} turns ended, the recording has ${turns}`);
  if (last?.outcome !== 'refused' || last.message !== RECORDING_ENDS)
    problems.push(`the last turn is ${last?.outcome ?? 'not there'}, not at the end of the recording`);
  return problems;
};

const listed = (list: readonly { readonly tool: string; readonly ok: boolean }[]): string =>
  list.map(({ tool, ok }) => `${tool}${ok ? '' : ' (refused)'}`).join(', ');

const writeProblems = (
  writes: ReturnType<AirlineDatabase['writes']>,
  { write_calls }: Recording,
): readonly string[] => {
  const problems = new Set(writes.map(({ key }) => key)).size === writes.length ? [] : ['a write ran twice'];
  if (listed(writes) === listed(write_calls)) return problems;
  return [...problems, `writes carried out: ${listed(writes)}; recorded: ${listed(write_calls)}`];
};
