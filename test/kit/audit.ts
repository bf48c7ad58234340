/**
 * What must hold of every log that the runtime wrote, looked at from outside: the chain, the decisions, the
 * conversation in every request, the effects in the world. Throws at the first that does not.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { canonical, sha256, type Digest } from '../../src/event/canonical.ts';
import { open, type StoredEvent } from '../../src/event/envelope.ts';
import { isDecision, type LogEvent } from '../../src/event/events.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { conclude } from '../../src/session/conclude.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import { next } from '../../src/session/next.ts';
import type { SessionState } from '../../src/session/state.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { Heard } from './stage.ts';
import type { World } from './world.ts';

export const fold = (session: string, events: readonly LogEvent[]): SessionState =>
  events.reduce(evolve, initial(session));

const expectChain = (stored: readonly StoredEvent[]): void => {
  // The first event names the session that begins the chain: a fork's is its parent's.
  const { data } = JSON.parse(stored[0]?.body ?? '') as { data: { session: string } };
  let prev: string = createHash('sha256').update(`onrecord/1 ${data.session}`).digest('hex');
  for (const [i, event] of stored.entries()) {
    expect(event.seq).toBe(i + 1);
    // Computed here and not by the code that wrote it: this is what somebody else's verifier does.
    expect(event.hash).toBe(createHash('sha256').update(`${prev}${event.body}`, 'utf8').digest('hex'));
    expect(canonical(JSON.parse(event.body))).toBe(event.body);
    prev = event.hash;
  }
};

/** Each decision is the one that follows, no fact stands where one is missing, each intent was due. */
const expectDecisions = (session: string, events: readonly LogEvent[]): void => {
  let state = initial(session);
  for (const event of events) {
    const decision = conclude(state);
    if (decision)
      expect({ seq: event.seq, type: event.type, data: event.data }).toEqual({
        seq: event.seq,
        ...(JSON.parse(JSON.stringify(decision)) as object),
      });
    else if (isDecision(event)) {
      const kind = { 'request.built': 'build', 'request.sent': 'resend', 'call.started': 'start' }[
        event.type as string
      ];
      expect(kind, `event ${event.seq} ${event.type} is an intent`).toBeDefined();
      expect(
        next(state).some((work) => work.kind === kind),
        `event ${event.seq} ${event.type} was due`,
      ).toBe(true);
    }
    state = evolve(state, event);
  }
  expect(conclude(state)).toBeUndefined();
};

type Message = {
  readonly role: string;
  readonly content:
    | string
    | readonly {
        readonly type?: string;
        readonly id?: string;
        readonly text?: string;
        readonly args?: string;
      }[];
};

/** Every call of an answer is followed by exactly one result, at once; ids are unique; no text is empty. */
export const expectConversation = (body: string): void => {
  const { messages } = JSON.parse(body) as { messages: readonly Message[] };
  const ids = new Set<string>();
  for (const [i, { role, content }] of messages.entries()) {
    if (typeof content === 'string') {
      expect(content).not.toBe('');
      expect(content.isWellFormed()).toBe(true);
      continue;
    }
    if (role === 'results') {
      for (const { text } of content) expect(text).not.toBe('');
      const before = messages[i - 1];
      expect(before?.role).toBe('assistant');
      continue;
    }
    const calls = content.filter((block) => block.type === 'call');
    for (const { id = '', args = '' } of calls) {
      expect(ids.has(id), `id ${id} is unique`).toBe(false);
      ids.add(id);
      expect(JSON.parse(args)).toBeTypeOf('object');
    }
    if (calls.length === 0) continue;
    const after = messages[i + 1];
    expect(after?.role).toBe('results');
    const results = typeof after?.content === 'object' ? after.content : [];
    expect(results.map((result) => result.id)).toEqual(calls.map((call) => call.id));
  }
};

/** The requests of the log again, from the record alone, and that they are the bytes that the model was given. */
const expectRequests = async (
  store: LogStore,
  events: readonly LogEvent[],
  heard: readonly Heard[],
): Promise<void> => {
  const source = { eventAt: (seq: number) => events[seq - 1], blob: (digest: Digest) => store.blob(digest) };
  for (const event of events) {
    if (event.type !== 'request.built') continue;
    const { body } = await rebuildRequest(source, event.seq);
    expectConversation(body);
    const { turn, step } = event.data;
    for (const one of heard)
      if (one.turn === turn && one.step === step) expect(sha256(one.body)).toBe(sha256(body));
  }
};

/** What the world says of what was done to it. */
export const expectEffects = (world: World, session: string, events: readonly LogEvent[]): void => {
  const startedBefore = new Set(
    events.flatMap((event) =>
      event.type === 'call.started' ? [`${event.data.call}#${event.data.attempt}`] : [],
    ),
  );
  const keys = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { call, effect, key, attempt } of world.executions) {
    const [owner, id = ''] = call.split(' ');
    expect(keys.get(call) ?? key).toBe(key);
    keys.set(call, key);
    if (owner !== session) continue;
    expect(
      startedBefore.has(`${id}#${attempt}`),
      `attempt ${attempt} of ${id} was recorded before it ran`,
    ).toBe(true);
    counts.set(call, (counts.get(call) ?? 0) + 1);
    if (effect === 'once') expect(counts.get(call), `executions of ${id}`).toBe(1);
  }
  expect(new Set(keys.values()).size).toBe(keys.size);
};

/** At most one outcome per attempt and call. */
const expectOutcomes = (events: readonly LogEvent[]): void => {
  const seen = new Set<string>();
  for (const event of events) {
    if (event.type !== 'call.result') continue;
    const name = `${event.data.call}#${event.data.attempt}`;
    expect(seen.has(name), `one result of ${name}`).toBe(false);
    seen.add(name);
  }
};

export type Audited = { readonly store: LogStore; readonly world: World; readonly heard: readonly Heard[] };

/** Checks a session's log. `incremental` is the state that a runtime keeps, for comparison. */
export const audit = async (
  { store, world, heard }: Audited,
  session: string,
  incremental?: SessionState,
): Promise<readonly LogEvent[]> => {
  const stored = await store.read(session);
  expectChain(stored);
  const events = stored.map(open);
  expectDecisions(session, events);
  expectOutcomes(events);
  await expectRequests(store, events, heard);
  expectEffects(world, session, events);
  if (incremental) expect(incremental).toEqual(fold(session, events));
  const replayed = replay({ session, events, encoderOf: () => neutralEncoder, program: 'audit' });
  expect(replayed.difference).toBeUndefined();
  return events;
};
