/** A session whose prompt holds something that changes: the report says what, where, and what it cost. */
import { expect, onTestFinished, test } from 'vitest';
import { rebuildAll, rebuildRequest } from '../../src/context/rebuild.ts';
import type { Encoder } from '../../src/context/encoding.ts';
import { priceList } from '../../src/cost/prices.ts';
import type { Usage } from '../../src/event/content.ts';
import { open } from '../../src/event/envelope.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Model } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { tool } from '../../src/tool/tool.ts';
import { cacheReuse, type ReuseRow } from '../../src/view/cache-reuse.ts';
import { textChanges } from '../../src/view/changing-text.ts';
import { causeWords, lessWords } from '../../src/view/reuse-words.ts';
import { defineAgent, type Agent, type AgentOptions } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { FakeClock, seededRandom } from '../kit/clock.ts';

const PRICES = priceList(
  [
    {
      provider: 'test',
      model: 'reader',
      base: { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
      tiers: [],
    },
  ],
  { source: 'test', date: '2026-11-01' },
);

const noop = (name: string, description = `the tool ${name}`): ReturnType<typeof tool> =>
  tool({ name, description, effect: 'none', inputSchema: { type: 'object' }, execute: () => 'done' });

type Say = { readonly agent: Partial<AgentOptions>; readonly usage?: Usage; readonly waitMs?: number };

/** One turn for each; every turn has an agent of its own, as if the program had been started again. */
const play = async (
  turns: readonly Say[],
  encoder: Encoder = neutralEncoder,
): Promise<readonly ReuseRow[]> => {
  const store = new MemoryLog();
  const clock = new FakeClock();
  let session: string | undefined;
  for (const [i, { agent: more, usage, waitMs = 0 }] of turns.entries()) {
    clock.advance(waitMs);
    const model: Model = {
      definition: { provider: 'test', name: 'reader', params: {} },
      encoder,
      send: async () => ({
        kind: 'response',
        stop: 'end',
        content: [{ type: 'text', text: `Answer ${i}.` }],
        ...(usage && { usage }),
      }),
    };
    const agent: Agent = defineAgent({ name: 'clerk', instructions: 'Be exact.', model, ...more });
    const runtime = await openRuntime({ store, agents: [agent], clock, random: seededRandom(i + 1) });
    const sent = await runtime.send({
      ...(session === undefined ? { agent: 'clerk' } : { session }),
      message: `Message ${i}.`,
    });
    session = sent.session;
    await runtime.rest(session);
    const closed = runtime.close({ drainMs: 0 });
    clock.advance(0);
    await closed;
  }
  const events = (await store.read(session ?? '')).map(open);
  const blob: typeof store.blob = (digest) => store.blob(digest);
  // What is walked is what each request is by itself.
  for await (const walked of rebuildAll(events, blob)) {
    const alone = await rebuildRequest({ eventAt: (seq) => events[seq - 1], blob }, walked.seq);
    expect(walked.head + walked.parts.join(',') + walked.tail).toBe(alone.body);
  }
  onTestFinished(() => store.close());
  return cacheReuse(session ?? '', events, rebuildAll(events, blob), { prices: PRICES });
};

const counted = (cacheRead: number, cacheWrite: number, input: number): Usage => ({
  cacheRead,
  cacheWrite,
  input,
  output: 10,
});

const now = (minute: number): Partial<AgentOptions> => ({
  instructions: `Be exact. It is now 2026-11-29T22:${minute}:07Z. Answer in English.`,
});

test('a-clock-in-the-prompt is named, with what it was and what it became, and with its price', async () => {
  const [first, second, third] = await play([
    { agent: now(10), usage: counted(0, 1000, 0) },
    { agent: now(11), usage: counted(0, 1100, 0) },
    { agent: now(11), usage: counted(1100, 60, 0) },
  ]);
  expect(first).toMatchObject({ verdict: 'first', causes: [], sharedBytes: 0 });
  expect(second?.causes).toEqual([
    {
      kind: 'instructions',
      changes: [{ kind: 'clock', at: 20, before: '2026-11-29T22:10:07Z', after: '2026-11-29T22:11:07Z' }],
    },
  ]);
  const [cause] = second?.causes ?? [];
  expect(cause && causeWords(cause)).toEqual({
    text: 'a clock in the instructions',
    quotes: [{ before: '2026-11-29T22:10:07Z', after: '2026-11-29T22:11:07Z' }],
  });
  expect(second?.sharedParts).toBe(0);
  expect(second?.lostTokens).toBeGreaterThan(500);
  // Written anew at 12.50 instead of read at 1: 11.50 a million more.
  expect(second?.lostUsd).toBeCloseTo(((second?.lostTokens ?? 0) * 11.5) / 1_000_000, 9);
  expect(third).toMatchObject({ causes: [], lostTokens: 0, lostUsd: 0, verdict: 'as-expected' });
  expect(third?.sharedTokens).toBeGreaterThan(900);
});

test('a-clock-that-the-adapter-adds is named although the agent is the same', async () => {
  let minute = 10;
  const ticking: Encoder = {
    ...neutralEncoder,
    frame: (agent) => {
      const { head, tail } = neutralEncoder.frame(agent);
      return { head: head.replace('{', `{"at":"29 Nov 2026, 22:${minute++}",`), tail };
    },
  };
  const rows = await play([{ agent: {} }, { agent: {} }], ticking);
  expect(rows[1]?.causes.map((cause) => causeWords(cause).text)).toEqual([
    'a clock in what the adapter puts around the conversation',
  ]);
  expect(rows[1]?.lostTokens).toBeUndefined();
});

test('what-broke-the-prefix has a name: tool order, a tool more, a definition, a model', async () => {
  const [a, b] = [noop('a'), noop('b')];
  const rows = await play([
    { agent: { tools: [a, b] } },
    { agent: { tools: [b, a] } },
    { agent: { tools: [b, a, noop('c')] } },
    { agent: { tools: [b, a, noop('c', 'the tool c, 3 of 4')] } },
    { agent: { tools: [b, a, noop('c', 'the tool c, 3 of 4')] } },
  ]);
  expect(rows.map(({ causes }) => causes.map((cause) => causeWords(cause).text))).toEqual([
    [],
    ['the order of tools: b, a'],
    ['tools added: c'],
    ['a text in the definition of c'],
    [],
  ]);
});

test('expected-and-actual stand side by side: a cache that was let go cold is told from a prefix that broke', async () => {
  const rows = await play([
    { agent: {}, usage: counted(0, 5000, 0) },
    { agent: {}, usage: counted(0, 6000, 0), waitMs: 8 * 60 * 1000 },
    { agent: {}, usage: counted(6000, 100, 0) },
    { agent: {}, usage: counted(0, 7000, 0) },
  ]);
  expect(rows.map(({ verdict, causes }) => [verdict, causes.length])).toEqual([
    ['first', 0],
    ['less', 0],
    ['as-expected', 0],
    ['less', 0],
  ]);
  expect(rows[1]?.gapMs).toBe(8 * 60 * 1000);
  expect(rows[1] && lessWords(rows[1])).toMatch(
    /^0 of [\d,]+ expected tokens came from the cache: 8 min had passed/,
  );
  expect(rows[3] && lessWords(rows[3])).toMatch(/the record does not say why$/);
});

const kinds = (before: string, after: string): readonly string[] =>
  textChanges(before, after).map(({ kind }) => kind);

test('what-changes-by-itself is recognised: clocks, dates, ids, counters; words are words', () => {
  const same: readonly (readonly [string, string, string])[] = [
    ['clock', 'at 10:11 PM', 'at 9:12 PM'],
    ['clock', 'Sun Nov 29 2026 22:11:32 GMT+0000', 'Mon Nov 30 2026 22:11:32 GMT+0000'],
    ['clock', 'since 1764454292123 ms', 'since 1764454299456 ms'],
    ['date', 'Today is Sunday, November 29, 2026.', 'Today is Monday, November 30, 2026.'],
    ['date', 'Stand: 29.11.2026', 'Stand: 30.11.2026'],
    ['id', 'run 123e4567-e89b-12d3-a456-426614174000', 'run 00000000-e89b-12d3-a456-426614174000'],
    ['id', 'trace req_011CVzabc123', 'trace req_011CVzabc999'],
    ['counter', 'You have 3 mails.', 'You have 14 mails.'],
    ['text', 'Be brief.', 'Be thorough.'],
    ['text', 'Be brief.', 'Be brief. It is 10:11.'],
  ];
  for (const [kind, before, after] of same) expect([before, kinds(before, after)]).toEqual([before, [kind]]);
  expect(textChanges('same', 'same')).toEqual([]);
});
