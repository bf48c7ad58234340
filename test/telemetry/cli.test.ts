/** What the environment of a command says: one trace over several commands, and no command that fails with its collector. */
import { afterEach, expect, test, vi } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { clerk, sessionIn } from '../cli/project.ts';
import { freePort } from '../kit/port.ts';
import { Collector } from './collector.ts';

const ASK = `
  - text: I will write it down.
    calls: [{ tool: files.write, args: { path: note.txt, text: "paid", new: true } }]
  - text: Written.
`;

afterEach(() => vi.unstubAllEnvs());

test('run, approve and what follows are one trace, each command telling its part', async () => {
  const collector = await Collector.open();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  const place = clerk(ASK);
  const { code, stdout, stderr } = await place.onrecord('run', 'clerk', 'Note that it was paid.');
  expect([code, stderr]).toEqual([3, `\n  onrecord approvals ${sessionIn(stdout)}\n`]);
  expect(collector.spans().map(({ name }) => name)).toEqual(['attempt', expect.stringMatching(/^chat /)]);
  const store = new SqliteLog(`${place.folder}/.onrecord/log.db`);
  const events = (await store.read(sessionIn(stdout))).map(open);
  await store.close();
  const digest = events.find((event) => event.type === 'approval.requested')?.data.digest ?? '';
  expect((await place.onrecord('approve', sessionIn(stdout), '--digest', digest)).code).toBe(0);
  const spans = collector.spans();
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? '')).map(({ name }) => name)).toEqual([
    'invoke_agent clerk',
  ]);
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['execute_tool files.write', 'wait for approval']),
  );
});

test('a collector that is away is said, and nothing else comes of it', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${await freePort()}`);
  const { code, stdout, stderr } = await clerk('\n  - text: Fine.\n').onrecord('run', 'clerk', 'How is it?');
  expect(code).toBe(0);
  expect(stdout).toContain('Turn 1 is done');
  expect(stderr).toContain('The collector cannot be reached (ECONNREFUSED)');
});

test('an environment that cannot be meant is refused before anything is done', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1');
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'sometimes');
  const { code, stdout, stderr } = await clerk('\n  - text: Fine.\n').onrecord('run', 'clerk', 'How is it?');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('OTEL_TRACES_SAMPLER is "sometimes"');
});
