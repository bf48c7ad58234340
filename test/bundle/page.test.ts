/** The page holds what it should, and nothing that anybody wrote into a session can become part of it. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionPage } from '../../src/bundle/page/page.ts';
import { ROWS_MAX } from '../../src/bundle/page/paper.ts';
import { genesis, seal, type StoredEvent } from '../../src/event/envelope.ts';
import type { LogEvent, NewEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import type { Verified } from '../../src/replay/verify.ts';
import { markup } from '../../src/view/markup.ts';
import { questions } from '../../src/view/approval.ts';
import { recordOf } from '../../src/view/record.ts';
import { settings, text } from '../kit/arbitrary.ts';
import { leastCpuMs } from '../kit/cpu.ts';
import { plan, Play } from '../kit/play.ts';
import { accepted, answered, ANNA, built, result, started, Story, toolDefinition } from '../kit/story.ts';
import { audit } from './page-audit.ts';

export const stored = async (events: readonly LogEvent[], session = 's_STORY'): Promise<LogStore> => {
  const store = new MemoryLog();
  const sealed: StoredEvent[] = [];
  let prev = genesis(session);
  for (const { seq, at, ...event } of events) {
    const one = seal(event, { seq, at, prev }).stored;
    prev = one.hash;
    sealed.push(one);
  }
  await store.append({ session, expected: 0, events: sealed });
  return store;
};

export const verifiedOf = async (store: LogStore, session: string): Promise<Verified> => {
  const head = await store.head(session);
  if (!head) throw new Error('no session');
  const none = { events: 0, blobs: 0, requests: 0 };
  return {
    session,
    events: head.seq,
    blobs: 0,
    requests: 1,
    decisions: 1,
    removed: none,
    head: head.hash,
    findings: [],
  };
};

export const pageOf = async (store: LogStore, session = 's_STORY'): Promise<string> => {
  let page = '';
  const verified = await verifiedOf(store, session);
  for await (const piece of sessionPage({ store, session, verified, zone: 'UTC' })) page += piece;
  return page;
};

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></style></pre><svg/onload=alert(1)>',
  '&lt;b&gt; &amp; <!-- --> ]]> <![CDATA[',
  'javascript:alert(1)',
  '\u202etxt.exe\u200b\u0000\ud800',
];

const hostile: fc.Arbitrary<string> = fc.oneof(
  text,
  fc.constantFrom(...HOSTILE),
  fc.tuple(text, fc.constantFrom(...HOSTILE)).map((two) => two.join('')),
);

const previewOf = (t: string): object => ({
  title: t,
  target: t,
  warnings: [t],
  blocks: [
    { kind: 'text', title: t, text: t },
    { kind: 'fields', fields: [{ name: t, value: t, warning: t }] },
    {
      kind: 'diff',
      path: t,
      patch: `@@ -1 +1 @@\n-${t}\n+${t}\n ${t}`,
      added: 1,
      removed: 1,
      newFile: false,
    },
    {
      kind: 'cells',
      path: t,
      keyName: t,
      changes: [{ row: 1, key: t, column: t, before: t, after: t }],
      newRows: 1,
      untouchedRows: 1,
    },
    {
      kind: 'mail',
      from: t,
      to: [t],
      cc: [t],
      bcc: [t],
      replyTo: t,
      subject: t,
      body: t,
      attachments: [{ name: t, bytes: 1 }],
    },
    {
      kind: 'calendar',
      before: { title: t, when: t, where: t },
      after: { title: t, when: t, repeats: t },
      conflicts: [t],
    },
    { kind: 'http', method: t, url: t, headers: [[t, t]], body: t },
  ],
});

/** A session in which everything that can be a text is this one. */
const everywhere = (t: string): readonly LogEvent[] => {
  const tool = toolDefinition('asks', {
    previews: true,
    description: t,
    labels: { untrusted: true, private: false },
  });
  const story = new Story({
    tools: [tool],
    policy: { rules: [{ id: t === '' ? 'r' : t, tools: ['asks'], do: 'ask', reason: t }] },
  });
  const by = { ...ANNA, name: t };
  const data = answered({
    text: t,
    calls: [
      { tool: 'asks', args: JSON.stringify({ t }), label: t },
      { tool: t, args: t },
    ],
    stopDetail: t,
    cost: 0.1,
    usage: { cacheRead: 1, cacheWrite: 2, input: 3, output: 4 },
  });
  story.given(
    accepted(1, t),
    { ...built(), data: { ...built().data, parts: [{ seq: 2, pieces: [t] }] } } as unknown as NewEvent,
    data,
  );
  story.when({ type: 'call.prepared', data: { call: '1.1.1', preview: previewOf(t) as never, base: t } });
  const [question] = questions(recordOf('s_STORY', story.events)).slice(-1);
  if (!question) return story.events;
  story.when({
    type: 'approval.decided',
    data: { call: '1.1.1', digest: question.digest, decision: { do: 'approve' }, by },
  });
  story.given(started('1.1.1'), result('1.1.1', { kind: 'unknown', code: 'timeout', message: t, detail: t }));
  story.when({
    type: 'call.settled',
    data: {
      call: '1.1.1',
      settlement: { answer: 'happened', content: [{ type: 'text', text: t }] },
      by,
      note: t,
    },
  });
  story.when({ type: 'turn.cancel_requested', data: { turn: 1, by, reason: t } });
  return story.events;
};

const longStory = (steps: number): Story => {
  const story = new Story();
  story.given(accepted());
  for (let step = 1; step <= steps; step++)
    story.given(
      built(1, step),
      answered({ text: `Step ${step}.`, calls: [{ tool: 'once', args: `{"n":${step}}` }] }, [1, step]),
      started(`1.${step}.1`),
      result(`1.${step}.1`, { kind: 'ok', content: [{ type: 'text', text: 'x'.repeat(200) }] }),
    );
  return story;
};

const bare = (inside: string): string => `<!doctype html>\n<html><body>${inside}</body></html>`;

describe('the page', () => {
  it('is whole markup of its own tags, whatever stands in the session', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (t) => {
        expect(audit(await pageOf(await stored(everywhere(t))))).toEqual([]);
      }),
      settings({ numRuns: 150, examples: HOSTILE.map((one): [string] => [one]) }),
    );
  }, 120_000);

  it('can fail that audit', () => {
    expect(audit(bare('<p>fine</p>'))).toEqual([]);
    for (const bad of [
      '<script>1</script>',
      '<p onclick="x">y</p>',
      '<a href="http://x">y</a>',
      '<p>',
      'a < b',
      'a > b',
      '<p title="a"b">x</p>',
      '<p style="x">y</p>',
    ])
      expect([bad, audit(bare(bad)).length > 0]).toEqual([bad, true]);
  });

  it('escapes a text for the place that it stands in: a tag holds no chip', () => {
    const t = '\u202e"><b>';
    expect(markup`<p title="${t}">${t}</p>`.markup).toBe(
      '<p title="&lt;U+202E&gt;&quot;&gt;&lt;b&gt;"><span class="cp">U+202E</span>&quot;&gt;&lt;b&gt;</p>',
    );
  });

  it('of any session that can be played is whole, too', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (some) => {
        const play = new Play(some);
        try {
          await play.run();
          expect(audit(await pageOf(play.stage.store, play.session))).toEqual([]);
        } finally {
          await play.stage.close();
        }
      }),
      settings({ numRuns: 30 }),
    );
  }, 120_000);

  it('forbids everything but its own style, and holds no script', async () => {
    const page = await pageOf(await stored(everywhere('x')));
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<style>'));
    expect(style).not.toMatch(/url\(|@import/);
  });

  it('says what a person has to know: what was asked, shown, decided, doubted and settled', async () => {
    const page = await pageOf(await stored(everywhere('The words.')));
    for (const words of [
      'Why a person was asked',
      'What the person was shown',
      'Approved by <b>The words.</b>',
      'Did asks happen?',
      'settled: asks happened',
      'Request 1',
      'Part 1',
      'cache read 1',
    ])
      expect([words, page.includes(words)]).toEqual([words, true]);
  });

  it('of a long session keeps the last rows, says how many are not there, and takes as much longer', async () => {
    const short = await stored(longStory(312).events);
    const story = longStory(2500);
    const store = await stored(story.events);
    const shortMs = await leastCpuMs(() => pageOf(short), 2);
    let page = '';
    const ms = await leastCpuMs(async () => (page = await pageOf(store)), 1);
    console.log(
      `${story.events.length} events: page of ${page.length} characters in ${Math.round(ms)} ms, ` +
        `an eighth of them in ${Math.round(shortMs)} ms`,
    );
    expect(story.events.length).toBeGreaterThan(ROWS_MAX);
    expect(page.match(/ class="ev /g)).toHaveLength(ROWS_MAX);
    expect(page).toContain(
      `${(story.events.length - ROWS_MAX).toLocaleString('en')} earlier events are not on this page`,
    );
    expect(audit(page)).toEqual([]);
    // Eight times the events; three times that for what a machine does besides, a third of what their square would take.
    expect(ms).toBeLessThan(24 * shortMs);
  }, 240_000);
});
