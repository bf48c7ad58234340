/** Field cases about tools and what they leave behind. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { Bench } from './bench.ts';
import { expectEffects, expectGiven, expectLog, expectRun } from './expected.ts';
import type { GivenTool } from './given.ts';
import { playGiven, resultsIn } from './model-io.ts';
import type { Plan } from './plan.ts';
import { tool } from '../../src/tool/tool.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { soon } from '../crash/children/stage.ts';
import { startChild } from '../kit/child.ts';
import { openSqlite, tempFolder } from '../kit/folder.ts';
import { sender } from './sender.ts';

const variantBench = (given: Parameters<Plan>[0], name: string, spec: GivenTool): Bench =>
  new Bench({
    ...given,
    input: {
      ...given.input,
      tools: { [name]: { effect: 'read', approval: 'never', ...spec } },
      model: [{ calls: [{ id: 'c1', tool: name, args: {} }] }, { text: 'ok' }],
    },
  });

export const TOOLS: Readonly<Record<string, Plan>> = {
  'FC-36': async (given) => {
    const told: string[] = [];
    for (const variant of given.input.variants ?? []) {
      // `returns_js: undefined` is read from YAML as the word.
      const { returns_js: returns = 'undefined' } = variant as { returns_js?: string };
      const bench = variantBench(given, 'odd', { returns_js: returns });
      await bench.play();
      await expectRun(bench, 'completed');
      told.push(resultsIn(bench.request(2)));
      expect(bench.request(2)).not.toContain('[object Object]');
    }
    const [cycle, big, nothing, map, numbers, png] = told;
    expect(cycle).toMatch(/result-not-serializable.*\.self/);
    expect(big).toContain('9007199254740993');
    expect(nothing).toMatch(/returned nothing/);
    expect(map).toMatch(/\\"a\\":1|failed/);
    expect(numbers).toMatch(/failed/);
    expect(png).toMatch(/image\/png, 10 bytes/);
  },
  'FC-38': async (given) => {
    let produced = 0;
    const idle = process.memoryUsage().rss;
    let peak = idle;
    const chunk = 'x'.repeat(64 * 1024);
    const cat = tool({
      name: 'cat',
      description: 'reads a long file',
      inputSchema: { type: 'object' },
      effect: 'none',
      approval: 'never',
      execute: async function* () {
        for (; produced < 16_384; produced++) {
          peak = Math.max(peak, process.memoryUsage().rss);
          yield chunk;
        }
      },
    });
    const bench = new Bench(given, { tools: [cat] });
    await bench.play();
    await expectRun(bench, 'completed');
    expect(produced * chunk.length).toBeLessThanOrEqual(8_388_608 + chunk.length);
    expect(peak - idle).toBeLessThan(200 * 1024 * 1024);
    const result = (await bench.events()).find((event) => event.type === 'call.result');
    expect(result).toMatchObject({ data: { outcome: { kind: 'ok', cut: { bytes: expect.any(Number) } } } });
    if (result?.type !== 'call.result' || result.data.outcome.kind !== 'ok') throw new Error('no result');
    const [shown] = result.data.outcome.content;
    if (shown?.type !== 'text') throw new Error('no text');
    expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(131_072);
    expect(shown.text).toMatch(/more than \d+ bytes left out/);
    expect(shown.text).not.toMatch(/the record has the rest/);
  },
  'FC-41': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.reached(1);
    await bench.later(5000);
    await bench.rest();
    await expectRun(bench, 'waiting_resolution');
    expect(bench.heard).toHaveLength(1);
    await bench.later(3000);
    await bench.event('call.late');
    await bench.rest();
    await expectGiven(bench, {
      ...given,
      expect: { log: given.expect.log ?? [], effects: given.expect.effects ?? {}, run: 'completed' },
    });
    expect(resultsIn(bench.request(2))).toMatch(/came late.*k1/s);
    expect(await bench.count('call.started')).toBe(1);
  },
  'FC-42': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.reached(1);
    await bench.later(30_000);
    await bench.rest();
    await expectRun(bench, 'completed');
    await expectLog(bench, ['tool.started c1', 'tool.timeout c1', 'tool.failed c1']);
    expect(resultsIn(bench.request(2))).toMatch(/30000 ms.*only reads.*tried again/s);
    const closed = bench.runtime.close({ drainMs: 10 });
    bench.clock.advance(10);
    await closed;
  },
  'FC-44': async (given) => {
    const told: string[] = [];
    const logs: string[] = [];
    for (const variant of given.input.variants ?? []) {
      const bench = variantBench(given, 'odd', {
        throws_js: (variant['throws_js'] as string | null) ?? null,
      });
      await bench.play();
      await expectRun(bench, 'completed');
      await expectLog(bench, ['tool.failed c1']);
      told.push(resultsIn(bench.request(2)));
      logs.push(JSON.stringify(await bench.events()));
      expect(bench.request(2)).not.toMatch(/\[object Object\]|\/test\/|node_modules|at .*:\d+:\d+/);
    }
    expect(told[0]).toMatch(/threw undefined/);
    expect(told[1]).toMatch(/no such row/);
    expect(told[2]).toMatch(/E_QUOTA/);
    expect(told[2]).toMatch(/left\W+0/);
    expect(told[3]).toMatch(/outer/);
    expect(logs[3]).toMatch(/inner/);
    expect(told[4]).toMatch(/two: a; b/);
    expect(told[5]).toMatch(/threw null/);
  },
  'FC-46': async (given) => {
    for (const answer of ['happened', 'not-happened'] as const) {
      const bench = new Bench(given);
      await bench.open();
      await bench.send();
      // The effect takes place, and then the process is gone before anything is written of it.
      bench.stubs.onEffect = () => bench.crash();
      await bench.decide('c1');
      await soon('the effect', () => bench.effects['send_mail'] === 1);
      await bench.restart();
      await bench.rest();
      await expectGiven(bench, given);
      const { id } = await bench.call('c1');
      const settlement =
        answer === 'happened'
          ? { answer, content: [{ type: 'text', text: 'the mail is out' }] as const }
          : { answer };
      await bench.runtime.settle({ session: bench.session, call: id, settlement, note: 'I looked' });
      await bench.rest();
      if (answer === 'happened') {
        await expectRun(bench, 'completed');
        expect(resultsIn(bench.heard.at(-1) ?? '')).toContain('the mail is out');
      } else await expectRun(bench, 'waiting_approval');
      expectEffects(bench, { send_mail: 1 });
      expect(await bench.count('call.started')).toBe(1);
    }
    // The same with a process that is gone for good.
    const folder = tempFolder();
    const child = startChild('../field/child-sender.ts', [join(folder, 'log.db'), join(folder, 'world')]);
    const session = (await child.line((line) => line.startsWith('session '))).slice('session '.length);
    await child.line((line) => line === 'sent');
    await child.kill();
    const store = openSqlite(join(folder, 'log.db'));
    const runtime = await openRuntime({
      store,
      agents: [sender(() => Promise.reject(new Error('nobody sends twice')))],
    });
    onTestFinished(() => runtime.close({ drainMs: 0 }));
    await soon('it is in doubt', async () => (await runtime.rest(session)).status === 'in-doubt');
    expect(readFileSync(join(folder, 'world'), 'utf8')).toBe('sent\n');
  },
  'FC-47': async (given) => {
    const whole = new Bench(given);
    await whole.open();
    await whole.send();
    await whole.decide('c1');
    await whole.rest();
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.decide('c1');
    await bench.event('call.result');
    await bench.restart();
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { send_mail: 1 });
    expect(await bench.count('approval.requested')).toBe(1);
    expect(bench.heard.at(-1)).toBe(whole.heard.at(-1));
  },
  'FC-48': async (given) => {
    const bench = new Bench(given);
    await bench.open();
    await bench.send();
    await bench.asking('c1');
    // The answer is written, then the process is gone before it starts anything.
    const decided = bench.decide('c1').catch(() => undefined);
    bench.crash(1);
    void decided;
    await bench.event('approval.decided');
    await bench.restart();
    await bench.rest();
    await expectRun(bench, 'completed');
    expectEffects(bench, { send_mail: 1 });
    await expectLog(bench, ['approval.decided c1', 'tool.started c1', 'tool.finished c1']);
    expect(await bench.count('approval.requested')).toBe(1);
    expect(await bench.count('call.doubted')).toBe(0);
  },
  'FC-49': async (given) => {
    const bench = await playGiven(given);
    expect(await bench.count('call.started')).toBe(1);
    expect(await bench.count('call.failed')).toBe(0);
  },
};
