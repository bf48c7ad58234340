/** A worker has no door, and answers whoever asks after it. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { operatorLog } from '../../src/cli/operator-log.ts';
import type { Logger } from '../../src/tool/tool.ts';
import { clerk } from './project.ts';
import { forbiddenIn, stage } from './terminal-stage.ts';

test('a worker answers probes under any name, and nothing else', { timeout: 120_000 }, async () => {
  const worker = clerk('\n  - text: Fine.\n').start('worker', '--probes', '127.0.0.1:0');
  const url = await worker.said(/(?<=Probes answer on )http:\S+(?=\.\n)/);
  const ask = async (path: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { origin: 'https://elsewhere.example' } });
  expect([
    (await ask('/livez')).status,
    (await ask('/readyz')).status,
    (await ask('/healthz')).status,
  ]).toEqual([200, 200, 200]);
  expect(await (await ask('/metrics')).text()).toContain('onrecord_sessions_stalled 0\n');
  expect((await ask('/sessions')).status).toBe(404);
  expect((await fetch(`${url}/mode`, { method: 'PUT', body: '{"mode":"frozen"}' })).status).toBe(404);
  worker.kill('SIGTERM');
  expect(await worker.done).toMatchObject({ code: 0 });
});

test('what an operator should know is JSON for programs and a sentence for people', () => {
  const { screen, stderr } = stage({ columns: 100 });
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const log = (form?: string): Logger =>
    operatorLog(screen, { args: [], options: form === undefined ? {} : { log: form } });
  log('json').warn('The disk is full.', { session: 's_1', code: 'store-full' });
  expect(JSON.parse(String(written.mock.calls[0]?.[0]))).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    level: 'warn',
    message: 'The disk is full.',
    session: 's_1',
    code: 'store-full',
  });
  // What a tool says may hold anything, also what moves a terminal's cursor.
  log('text').warn('The disk\u001b[2J is full.', { session: 's_1', code: 'store-full' });
  expect(stderr.written).toMatch(/^▲ The disk.*is full\. \(s_1, store-full\)\n$/);
  expect(forbiddenIn(stderr.written, false)).toBeUndefined();
  expect(() => log('xml')).toThrow(expect.objectContaining({ code: 'log-form-unknown' }));
});

test('a place for probes that is none is refused before anything is opened', async () => {
  const { code, stderr } = await clerk('\n  - text: Fine.\n').onrecord('worker', '--probes', 'here:there');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--probes "here:there" is no port')]);
});
