/** A session in pieces says what the whole of it says: rows, standing, requests, whatever stretch is asked for. */
import { assert, asyncProperty, integer, oneof, constantFrom } from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { rebuildAll } from '../../src/context/rebuild.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { createApp, type App } from '../../src/server/app.ts';
import type { IndexView, RequestPartsView, RowsView, StandingView } from '../../src/server/window-shapes.ts';
import { evolve, initial } from '../../src/session/evolve.ts';
import { summaryOf } from '../../src/session/summary.ts';
import { eventLine } from '../../src/view/event-line.ts';
import { Reading } from '../../src/view/reading.ts';
import { BOOKMARK_EVENTS } from '../../src/view/session-index.ts';
import { sentPlan } from '../../src/view/request-plan.ts';
import { timeline } from '../../src/view/timeline.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { growSession, stockClerk } from './long-session.ts';

const EVENTS = 6000;
const HOST = 'pieces';

const store = new MemoryLog();
let session = '';
let events: readonly LogEvent[] = [];
let app: App;
let token = '';

beforeAll(async () => {
  session = await growSession(store, EVENTS);
  events = (await store.read(session)).map(open);
  const runtime = await openRuntime({ store, agents: [stockClerk()], drive: false });
  app = createApp({ runtime, hosts: () => [HOST] });
  ({ token } = await app.tokens.add({ name: 'anna', roles: ['read'] }, { kind: 'program', name: 'test' }));
});

const ask = async <T>(rest: string): Promise<T> => {
  const headers = { host: HOST, authorization: `Bearer ${token}` };
  const answer = await app.fetch(new Request(`http://${HOST}/sessions/${session}/${rest}`, { headers }));
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
};

test('turns and steps begin where the timeline of the whole has them', async () => {
  const { head, sections, steps } = await ask<IndexView>('index');
  expect(head).toBe(events.length);
  const { rows } = timeline(new Reading(session, events), { now: 0, everyEvent: true });
  const starts = { turn: [] as number[], step: [] as number[] };
  for (const [i, row] of rows.entries()) {
    if (row.kind === 'event') continue;
    const next = rows.slice(i).find((one) => one.kind === 'event');
    if (row.kind === 'turn') starts.turn.push(row.turn);
    if (next?.kind === 'event') starts[row.kind].push(next.line.seq);
  }
  expect(sections).toEqual(starts.turn);
  expect(steps).toEqual(starts.step);
});

test('rows of any stretch, told at any event, are the lines that a reading of all events up to it has', async () => {
  const wholes = new Map<number, Reading>();
  const wholeAt = (at: number): Reading => {
    const known = wholes.get(at) ?? new Reading(session, events.slice(0, at));
    wholes.set(at, known);
    return known;
  };
  const places = [events.length, 4321, 2000];
  // Behind a bookmark what stood open before it must be known.
  const behind = Array.from(
    { length: Math.floor(EVENTS / BOOKMARK_EVENTS) },
    (_, i) => i * BOOKMARK_EVENTS + 1,
  );
  const froms = oneof(integer({ min: 1, max: events.length }), constantFrom(...behind));
  await assert(
    asyncProperty(constantFrom(...places), froms, async (at, wanted) => {
      const from = Math.min(at, wanted);
      const { rows } = await ask<RowsView>(`rows?from=${from}&to=${from + 30}&at=${at}`);
      const whole = wholeAt(at);
      const lines = events
        .slice(from - 1, Math.min(at, from + 30))
        .map((event) => eventLine(whole, event, { me: 'anna' }));
      expect(rows.map(({ seq, mark, who, text }) => ({ seq, mark, who, text }))).toEqual(
        lines.map(({ seq, mark, who, text }) => ({ seq, mark, who, text })),
      );
    }),
    { numRuns: 40 },
  );
});

test('the standing at any event is the fold of the events up to it', async () => {
  for (const at of [1, 2, 999, 1000, 1001, 3456, events.length]) {
    const { session: view, request } = await ask<StandingView>(`standing?at=${at}`);
    const state = events.slice(0, at).reduce(evolve, initial(session));
    expect(view).toEqual(JSON.parse(JSON.stringify({ session, head: at, ...summaryOf(state) })));
    expect(request).toBe(events.slice(0, at).filter(({ type }) => type === 'request.built').length);
  }
});

test('the parts of a late request, put together from the turns that it holds, are those of the whole log', async () => {
  const count = events.filter(({ type }) => type === 'request.built').length;
  for (const number of [count, count - 1, count - 2]) {
    const view = await ask<RequestPartsView>(`requests/${number}/parts`);
    const walk = rebuildAll(events, (digest) => store.blob(digest));
    const { manifest, shared } = await sentPlan(session, events, walk, number);
    expect([view.bytes, view.sharedBytes]).toEqual([manifest.bytes, shared?.bytes]);
    const kept = manifest.parts.filter(({ state, seq }) => state === 'kept' && seq !== undefined);
    expect(
      view.parts.flatMap(({ state, from, bytes, same }) =>
        state === 'kept' && from !== undefined ? [{ from, bytes, same }] : [],
      ),
    ).toEqual(kept.map(({ seq, bytes, same }) => ({ from: seq, bytes, same })));
    const left = view.parts.reduce(
      (sum, { state, count: parts }) => sum + (state === 'left-out' ? parts : 0),
      0,
    );
    expect(left).toBe(manifest.counts['left-out']);
  }
});
