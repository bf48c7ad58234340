/** What is still open in a session at a place of its log: requests, calls, questions, doubts, turns that wait. */
import type { CallId } from '../event/call-id.ts';
import type { CallState } from '../session/state.ts';
import { argumentsBrief } from './brief.ts';
import type { Mark } from './event-line.ts';
import type { Reading } from './reading.ts';
import { waitsFor } from './terms.ts';

export type OpenWork = {
  readonly kind: 'request' | 'call' | 'question' | 'doubt' | 'queued';
  readonly mark: Mark;
  readonly word: string;
  /** "request 7", the name of a tool, "turn 4". */
  readonly who: string;
  readonly text: string;
  readonly call?: CallId;
  readonly turn?: number;
  /** The event that it stands open since. */
  readonly seq: number;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly since: number;
  /** When a question lapses, where it does. */
  readonly expiresAt?: number;
  readonly attempt?: number;
};

/** What a person can act on comes first. `timeOf` answers when an event was. */
export const openWork = (reading: Reading, timeOf: (seq: number) => number): readonly OpenWork[] => {
  const { active, leftOpen, queue, turns } = reading.state;
  const calls = [...leftOpen, ...(active?.calls ?? [])].flatMap((call) => callWork(reading, call, timeOf));
  const requests: OpenWork[] = [];
  const { request } = active ?? {};
  if (request && (request.phase === 'open' || request.phase === 'waiting'))
    requests.push({
      kind: 'request',
      mark: 'run',
      word: request.phase === 'open' ? 'running' : 'waits to be sent again',
      who: `request ${reading.requestAt(request.seq)?.number ?? ''}`.trim(),
      text: reading.state.agent.model.name,
      seq: request.seq,
      since: timeOf(request.seq),
      attempt: request.attempt,
    });
  const queued = queue.map((turn): OpenWork => {
    const seq = turns[turn - 1]?.seq ?? 0;
    const [who, text] = [`turn ${turn}`, 'waits for the turn before it'];
    return { kind: 'queued', mark: 'decision', word: 'queued', who, text, turn, seq, since: timeOf(seq) };
  });
  return [...calls.toSorted((one, other) => RANKS[one.kind] - RANKS[other.kind]), ...requests, ...queued];
};

const RANKS: Readonly<Record<OpenWork['kind'], number>> = {
  doubt: 0,
  question: 1,
  call: 2,
  request: 3,
  queued: 4,
};

const callWork = (
  reading: Reading,
  call: CallState,
  timeOf: (seq: number) => number,
): readonly OpenWork[] => {
  if (call.phase === 'closed') return [];
  const { about, asked, started } = reading.call(call.id);
  const common = {
    who: call.tool,
    text: about ?? argumentsBrief(call.args),
    call: call.id,
    attempt: call.attempt,
  };
  if (call.phase === 'in-doubt') {
    const seq = started?.seq ?? 0;
    const since = call.doubt?.since ?? timeOf(seq);
    return [{ ...common, kind: 'doubt', mark: 'doubt', word: 'in doubt', seq, since }];
  }
  if (call.phase === 'asking') {
    const seq = asked?.seq ?? 0;
    const { expiresAt, by } = call.terms ?? {};
    const word = waitsFor(by);
    const lapses = expiresAt === undefined ? {} : { expiresAt };
    return [{ ...common, kind: 'question', mark: 'wait', word, seq, since: timeOf(seq), ...lapses }];
  }
  const seq = started?.seq ?? asked?.seq ?? reading.state.seq;
  const word = call.phase === 'started' ? 'running' : 'about to run';
  return [{ ...common, kind: 'call', mark: 'run', word, seq, since: timeOf(seq) }];
};
