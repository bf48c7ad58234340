/** Field cases about what comes from a model and what goes back to it, with a scripted model. */
import { expect } from 'vitest';
import { Bench } from './bench.ts';
import { expectGiven, expectLog, expectRun } from './expected.ts';
import { decodeArguments } from '../../src/effect/arguments.ts';
import { clerk, sessionIn } from '../cli/project.ts';
import { valueOf, type GivenCase } from './given.ts';
import type { Plan } from './plan.ts';

/** Plays a case and holds it against all that stands in it in a form that needs no interpretation. */
export const playGiven = async (given: GivenCase): Promise<Bench> => {
  const bench = new Bench(given);
  await bench.play();
  await expectGiven(bench, given);
  return bench;
};

export const resultsIn = (body: string): string => body.slice(body.lastIndexOf('"role":"results"'));
const rejection = async (bench: Bench, label: string): Promise<string> => {
  const id = await bench.idOf(label);
  const found = (await bench.events()).find(
    (event) => event.type === 'call.rejected' && event.data.call === id,
  );
  return found?.type === 'call.rejected' ? found.data.message : '';
};

const loneEscape = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i;
const expectWellFormed = (bench: Bench): void => {
  for (const body of bench.heard) {
    expect(body.isWellFormed()).toBe(true);
    expect(body).not.toMatch(loneEscape);
  }
};

export const MODEL_IO: Readonly<Record<string, Plan>> = {
  'FC-01': async (given) => {
    const bench = await playGiven(given);
    expect(bench.given).toEqual([]);
    expect(await rejection(bench, 'c1')).toMatch(/limit cut.*Nothing was run.*smaller/s);
    expect(JSON.stringify(await bench.events())).toContain('# Q3 resul');
    expect(resultsIn(bench.request(2))).not.toMatch(/required|missing/);
  },
  'FC-02': async (given) => {
    const bench = await playGiven(given);
    expect(bench.heard).toHaveLength(3);
    expect(await rejection(bench, 'c1')).toMatch(/character \d+.*Nothing was run/s);
    expect(bench.request(2)).not.toContain('truncated');
  },
  'FC-05': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.decide('c1');
    await bench.rest();
    await expectGiven(bench, given);
    expect(bench.given).toEqual([
      { tool: 'refund', input: { order_id: 2_512_292_042_121_000_001n }, key: expect.any(String) },
    ]);
    const all = JSON.stringify([await bench.events(), bench.heard]);
    expect(all).toContain('2512292042121000001');
    expect(all).not.toContain('2512292042121000000');
  },
  'FC-06': async (given) => {
    const bench = await playGiven(given);
    expect(await bench.count('approval.requested')).toBe(0);
    expect(await rejection(bench, 'c1')).toContain('"to"');
  },
  'FC-09': async (given) => {
    const bench = await playGiven(given);
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    const [{ input } = { input: {} }] = bench.given;
    expect((input as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    await playGiven(given);
  },
  'FC-10': async (given) => {
    const raw = String(valueOf(given.input.model?.[0]?.calls?.[0]?.args_js ?? '""'));
    const before = process.cpuUsage();
    expect(decodeArguments(raw)).toMatchObject({ ok: false, reason: 'arguments-too-deep' });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
    const bench = await playGiven(given);
    expect(JSON.stringify(await bench.events())).toContain('[[[[[[[[');
    // What people open of it opens.
    const place = clerk(
      `\n  - ${JSON.stringify({ calls: [{ tool: 'files.read', argsRaw: raw }] })}\n  - { text: ok }\n`,
    );
    const run = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    const session = sessionIn(run.stdout + run.stderr);
    for (const words of [
      ['show', session],
      ['export', session, '--html', '-o', 'page.html'],
      ['export', session, '-o', 'log.jsonl'],
    ])
      expect([words, (await place.onrecord(...words)).code]).toEqual([words, 0]);
  },
  'FC-13': async (given) => {
    for (const variant of given.input.variants ?? []) {
      const calls = [{ id: 'c1', tool: 'now', args_raw: String(variant['args_raw']) }];
      const bench = new Bench({ ...given, input: { ...given.input, model: [{ calls }, { text: 'ok' }] } });
      await bench.play();
      await expectRun(bench, 'completed');
      const wanted = String(variant['expect']);
      if (wanted.startsWith('tool.rejected'))
        await expectLog(bench, [wanted.replace('tool.rejected', 'tool.rejected c1')]);
      else expect(bench.given.map(({ input }) => input)).toEqual([{}]);
    }
  },
  'FC-14': async (given) => {
    const { tools = {}, model = [] } = given.input;
    const bench = new Bench(
      { ...given, input: { ...given.input, tools, model } },
      { limits: { resultBytes: 3 } },
    );
    await bench.play();
    await expectRun(bench, 'completed');
    expectWellFormed(bench);
    const cut = (await bench.events()).find((event) => event.type === 'call.result');
    expect(cut).toMatchObject({ data: { outcome: { kind: 'ok', cut: { bytes: 8 } } } });
    expect(JSON.stringify(await bench.events())).toContain('ud83d');
  },
  'FC-15': async (given) => {
    const bench = await playGiven(given);
    const result = (await bench.events()).find((event) => event.type === 'call.result');
    expect(result).toMatchObject({ data: { outcome: { content: [{ type: 'text', text: 'a\0b' }] } } });
    expect(bench.request(2)).toContain('a\u{FFFD}b');
    const built = (await bench.events()).filter((event) => event.type === 'request.built');
    expect(built.map(({ data }) => (data as { replaced?: number }).replaced)).toEqual([undefined, 1]);
  },
  'FC-17': async (given) => {
    const bench = await playGiven(given);
    expect(await rejection(bench, 'c1')).toMatch(/bash, read_file/);
    expect(bench.request(2)).not.toMatch(/denied|permission/i);
    expect(await bench.count('approval.requested')).toBe(0);
  },
  'FC-19': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    await expectRun(bench, 'completed');
    expect(bench.given.map(({ input }) => input)).toEqual([{ path: 'a.txt' }, { path: 'b.txt' }]);
    expect(new Set(bench.given.map(({ key }) => key)).size).toBe(2);
    const ids = [...bench.request(2).matchAll(/"type":"call","id":"([^"]+)"/g)].map(([, id]) => id);
    const answered = [...resultsIn(bench.request(2)).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(2);
    expect(answered).toEqual(ids);
  },
  'FC-21': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    await expectRun(bench, 'refused');
    expect(bench.heard).toHaveLength(1);
    const ended = (await bench.events()).at(-1);
    expect(ended).toMatchObject({
      type: 'turn.ended',
      data: { outcome: 'refused', message: expect.stringMatching(/general/) },
    });
  },
  'FC-22': async (given) => {
    const bench = await playGiven(given);
    expect((await bench.events()).at(-1)).toMatchObject({ data: { empty: true } });
    const { then } = given.input;
    if (!then) throw new Error('the case goes on');
    bench.say(then.model);
    await bench.runtime.send({ session: bench.session, message: then.user });
    await bench.rest();
    await expectRun(bench, 'completed');
    for (const body of bench.heard) expect(body).not.toMatch(/"text":""|"content":""|"content":\[\]/);
  },
  'FC-28': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.event('request.retry');
    await bench.later(3000);
    await bench.restart();
    await bench.rest();
    await expectRun(bench, 'completed');
    const events = await bench.events();
    const failed = events.findIndex((event) => event.type === 'request.failed');
    const again = events.findLast((event) => event.type === 'request.sent');
    expect((again?.at ?? 0) - (events[failed]?.at ?? 0)).toBeGreaterThanOrEqual(7000);
  },
  'FC-34': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    await expectRun(bench, 'failed', 'repeated_call');
    await expectLog(bench, ['tool.finished c1', 'tool.finished c2', 'tool.finished c3', 'run.ended failed']);
    expect(bench.heard.length).toBeLessThanOrEqual(5);
    expect(bench.heard.at(-1)).toMatch(/result will not change/);
  },
  'FC-117': async (given) => {
    const bench = new Bench(given);
    await bench.play();
    await expectRun(bench, 'failed', 'context_overflow');
    expect(bench.heard.length).toBeLessThanOrEqual(2);
  },
};
