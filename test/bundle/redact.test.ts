/** What rules remove is not in the file any more, and the chain holds all the same. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importBundle } from '../../src/bundle/import.ts';
import { payloadsOf } from '../../src/bundle/payload.ts';
import { parseRules } from '../../src/bundle/redaction-rules.ts';
import { redact, type Redaction } from '../../src/bundle/redact.ts';
import { open } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import { tool } from '../../src/index.ts';
import { Reading } from '../../src/view/reading.ts';
import { settings } from '../kit/arbitrary.ts';
import { plan, Play } from '../kit/play.ts';
import { Stage } from '../kit/stage.ts';
import { bytesOf, IMPORTER, linesOf, readBack, resealed } from './sample.ts';

const SECRET = 'The patient is Eva Brandl, born 1974.\nCall her under 0664 1234567 after six.';
const SHORT = 'code 4471';
const OPEN = { type: 'object' } as const;

/** A session with a private tool, whose result the model quotes, whose file it keeps, and a second tool that is none. */
const session = async (): Promise<{ store: LogStore; name: string }> => {
  const stage = new Stage({
    limits: { resultBytes: 400 },
    says: (_, step) => {
      if (step === 1)
        return {
          text: 'I look.',
          calls: [
            { tool: 'chart.read', args: { who: 'Brandl, Eva from Graz' } },
            { tool: 'weather', args: {} },
          ],
        };
      if (step === 2)
        return {
          text: 'She says: "Call her under 0664 1234567 after six." I note it.',
          calls: [{ tool: 'weather', args: { place: 'Graz' } }],
        };
      return { text: 'All is done here.' };
    },
    tools: () => [
      tool({
        name: 'chart.read',
        description: 'reads a chart',
        inputSchema: OPEN,
        effect: 'none',
        labels: { private: true, untrusted: false },
        execute: () => `${SECRET}\n${SHORT}\n${'filler of a chart '.repeat(60)}`,
      }),
      tool({
        name: 'weather',
        description: 'weather',
        inputSchema: OPEN,
        effect: 'none',
        execute: () => 'Sunny over the whole of Styria.',
      }),
    ],
  });
  await stage.open();
  const name = await stage.send('What is to be done for her?');
  await stage.runtime.rest(name);
  await stage.close();
  return { store: stage.store, name };
};

const redacted = async (
  store: LogStore,
  name: string,
  rules: string,
): Promise<{ bytes: Buffer; redaction: Redaction }> => {
  const redaction = await redact(await store.read(name), parseRules(rules), (digest) => store.blob(digest));
  return { bytes: await bytesOf(store, name, redaction), redaction };
};

describe('--redact', () => {
  it('private: the result, its arguments, its file, requests made of it and answers that quote it are gone', async () => {
    const { store, name } = await session();
    const whole = (await bytesOf(store, name)).toString('utf8');
    for (const text of ['0664 1234567', 'Brandl', SHORT, 'filler of a chart']) expect(whole).toContain(text);
    const { bytes, redaction } = await redacted(store, name, 'private');
    const text = bytes.toString('utf8');
    for (const gone of ['0664 1234567', 'Brandl', SHORT, 'filler of a chart'])
      expect([gone, text.includes(gone)]).toEqual([gone, false]);
    for (const stays of [
      'I look.',
      'Sunny over the whole of Styria.',
      'What is to be done for her?',
      'All is done here.',
    ])
      expect([stays, text.includes(stays)]).toEqual([stays, true]);
    expect(redaction.counts.get('repeats')).toBeGreaterThan(0);
    const { verified } = await readBack(bytes);
    expect(verified.findings).toEqual([]);
    expect(verified.removed.events).toBe(redaction.bodies.size);
    // The parts that were removed have left their digests, so the prefix chain of each request still proves itself.
    expect([verified.requests, verified.removed.requests]).toEqual([3, 0]);
    expect(verified.head).toBe((await store.head(name))?.hash);
  });

  it('private: a short result is gone from the request that holds all results of its step, although another one closed it', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'chart.code' }, { tool: 'weather' }] } : { text: 'All is done here.' },
      tools: () => [
        tool({
          name: 'chart.code',
          description: 'reads a code',
          inputSchema: OPEN,
          effect: 'none',
          labels: { private: true, untrusted: false },
          execute: () => SHORT,
        }),
        tool({
          name: 'weather',
          description: 'weather',
          inputSchema: OPEN,
          effect: 'none',
          execute: () => 'Sunny.',
        }),
      ],
    });
    await stage.open();
    const name = await stage.send('What is it?');
    await stage.runtime.rest(name);
    await stage.close();
    const { store } = stage;
    // The case that is meant: the part is told to come from the other call's result.
    const built = (await store.read(name)).map(open).findLast((event) => event.type === 'request.built');
    const last = built?.type === 'request.built' ? built.data.parts.at(-1) : undefined;
    expect(JSON.stringify(last?.pieces)).toContain(SHORT);
    const from = (await store.read(name, last?.seq, last?.seq)).map(open)[0];
    expect(from).toMatchObject({ type: 'call.result', data: { call: '1.1.2' } });
    const { bytes } = await redacted(store, name, 'private');
    expect(bytes.toString('utf8')).not.toContain(SHORT);
    expect(bytes.toString('utf8')).toContain('Sunny.');
    expect((await readBack(bytes)).verified.findings).toEqual([]);
  });

  it('is the same bytes each time', async () => {
    const { store, name } = await session();
    const [one, other] = [await redacted(store, name, 'private'), await redacted(store, name, 'private')];
    expect(one.bytes.equals(other.bytes)).toBe(true);
  });

  it('what is left can be read like any session, and is not imported', async () => {
    const { store, name } = await session();
    const { bytes } = await redacted(store, name, 'all');
    const { bundle, verified } = await readBack(bytes);
    const reading = new Reading(name, bundle.events.map(open));
    expect(reading.state.turns).toHaveLength(1);
    await expect(importBundle(new MemoryLog(), { bundle, verified }, IMPORTER)).rejects.toMatchObject({
      code: 'bundle-redacted',
    });
  });

  it('the chain shows what was changed: type, time and place of an event without its text, its digest, the order', async () => {
    const { store, name } = await session();
    const { bytes } = await redacted(store, name, 'private');
    const { lines, trailer } = linesOf(bytes);
    const at = lines.findIndex((line) => line.startsWith('{"data":"'));
    const line = lines[at] ?? '';
    const changes: readonly (readonly [string, string])[] = [
      ['type', line.replace(/"type":"[a-z.]+","v":1\}\}$/, '"type":"call.refused","v":1}}')],
      [
        'time',
        line.replace(/"removed":\{"at":(\d+)/, (_, ms: string) => `"removed":{"at":${Number(ms) + 1}`),
      ],
      [
        'digest',
        line.replace(/^\{"data":"(.)/, (_, digit: string) => `{"data":"${digit === '0' ? '1' : '0'}`),
      ],
    ];
    for (const [what, changed] of changes) {
      expect([what, changed === line]).toEqual([what, false]);
      const { verified } = await readBack(resealed(lines.with(at, changed), trailer));
      expect([what, verified.findings.some(({ kind }) => kind === 'hash')]).toEqual([what, true]);
    }
  });

  it('a digest stands for what was removed: who holds it can show that it is that', async () => {
    const { store, name } = await session();
    const { bytes } = await redacted(store, name, 'tool:weather');
    const { sha256 } = await import('../../src/event/canonical.ts');
    expect(bytes.toString('utf8')).toContain(
      `[removed by tool:weather: 31 bytes, sha256 ${sha256('Sunny over the whole of Styria.')}]`,
    );
  });

  it.each([
    ['field:who', 'Brandl, Eva'],
    ['type:call.result', SHORT],
    ['tool:chart.*', SHORT],
    ['pointer:/outcome/content/*/text', SHORT],
    ['pointer:/agent/instructions', 'Be exact.'],
    ['all', 'weather over'],
    ['all', 'What is to be done'],
  ])('%s removes "%s"', async (rules, gone) => {
    const { store, name } = await session();
    const { bytes } = await redacted(store, name, rules);
    expect(bytes.toString('utf8')).not.toContain(gone);
    expect((await readBack(bytes)).verified.findings).toEqual([]);
  });

  it('instructions that were removed are gone from the frames of requests, too', async () => {
    const { store, name } = await session();
    const { redaction } = await redacted(store, name, 'field:instructions');
    expect(redaction.blobs.size).toBeGreaterThan(0);
  });

  it('a rule that finds nothing is refused: it would leave standing what it was meant for', async () => {
    const { store, name } = await session();
    for (const rule of ['tool:chart.raed', 'field:whoo', 'pointer:/outcom', 'type:call.late'])
      await expect(redacted(store, name, rule)).rejects.toMatchObject({ code: 'redaction-matched-nothing' });
    for (const rule of ['', 'everything', 'type:call.results', 'pointer:outcome', 'tool:'])
      expect(() => parseRules(rule)).toThrow(expect.objectContaining({ code: 'redaction-invalid' }));
  });

  it('of any session, whatever is removed by "all": no text of people, models and tools is left, and the chain holds', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (some) => {
        const play = new Play(some);
        try {
          await play.run();
          const { store } = play.stage;
          const { bytes } = await redacted(store, play.session, 'all');
          const { verified, bundle } = await readBack(bytes);
          expect(verified.findings).toEqual([]);
          const left = bundle.events.map(open).flatMap(textsLeft);
          expect(left).toEqual([]);
        } finally {
          await play.stage.close();
        }
      }),
      settings({ numRuns: 40 }),
    );
  }, 120_000);
});

/** Payloads that are no marker. */
const textsLeft = (event: LogEvent): readonly string[] =>
  payloadsOf(event.type, event.data).flatMap(({ kind, value }) => {
    if (kind === 'blob') return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.includes('[removed by all: ') || text === '[]' ? [] : [`${event.type} ${text}`];
  });
