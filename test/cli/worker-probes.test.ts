/** A worker has no door, and answers whoever asks after it. */
import { expect, test } from 'vitest';
import { clerk } from './project.ts';

test('a worker answers probes under any name, and nothing else', async () => {
  const worker = clerk('\n  - text: Fine.\n').start('worker', '--probes', '127.0.0.1:0');
  await worker.said('Probes answer on');
  const url = /Probes answer on (\S+)\./.exec(worker.printed().stdout)?.[1] ?? '';
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

test('a place for probes that is none is refused before anything is opened', async () => {
  const { code, stderr } = await clerk('\n  - text: Fine.\n').onrecord('worker', '--probes', 'here:there');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--probes "here:there" is no port')]);
});
