/** Replies as they came, on a real store that a real runtime wrote over real sockets: whole, refused, broken off. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { anthropic } from '../../src/model/anthropic.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { seededRandom } from '../kit/clock.ts';
import { standIn } from '../model/openai-stage.ts';
import { anthropicEvents, anthropicSse } from '../model/scenario-anthropic.ts';
import { clerk, type Project } from './project.ts';

const REFUSED = '{"type":"error","error":{"type":"overloaded_error","message":"Too many at once."}}';

type Served = { readonly bodies: readonly string[]; readonly place: Project; readonly session: string };

/** Three requests: refused and then answered; answered with remarks; broken off inside an event at its last attempt. */
const served = async (): Promise<Served> => {
  const [first, second, third] = [
    anthropicSse(anthropicEvents({ text: 'It is “open”. 完了', usage: usage(0, 5000) })),
    anthropicSse(anthropicEvents({ text: 'Still open.', usage: usage(0, 5100) })).replace(
      '"stop_reason":null,',
      '"stop_reason":null,"diagnostics":{"cache_miss_reason":{"type":"system_changed","cache_missed_input_tokens":4900}},' +
        '"input_transformations":[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"model_binding_mismatch"}],',
    ),
    anthropicSse(anthropicEvents({ text: 'It was never', usage: usage(0, 5200) })),
  ] as const;
  const cut = third.slice(0, third.indexOf('It was') + 2);
  let asked = 0;
  const { url } = await standIn((_, response) => {
    asked++;
    if (asked === 1) {
      response.writeHead(529, {
        'content-type': 'application/json',
        'retry-after-ms': '1',
        'request-id': 'req_9',
      });
      response.end(REFUSED);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${asked}` });
    if (asked === 2) response.end(first);
    else if (asked === 3) response.end(second);
    else response.write(cut, () => response.destroy());
  });
  const place = clerk('- text: unused');
  // A first run makes the store.
  await place.onrecord('run', 'clerk', 'Begin.');
  const store = new SqliteLog(join(place.folder, '.onrecord/log.db'));
  const model = anthropic({
    baseUrl: new URL(url).origin,
    credential: 'KEY',
    env: { KEY: 'sk-ant-reply-0123456789' },
  }).model('claude-stand-in');
  const agent = defineAgent({
    name: 'asker',
    instructions: 'Be brief.',
    model,
    limits: { requestAttempts: 2 },
  });
  const runtime = await openRuntime({ store, agents: [agent], random: seededRandom(3) });
  onTestFinished(() => runtime.close());
  const { session } = await runtime.send({ agent: 'asker', message: 'Is it open?' });
  await runtime.rest(session);
  for (const message of ['And now?', 'Was it ever?']) {
    await runtime.send({ session, message });
    await runtime.rest(session);
  }
  await runtime.close();
  return { place, session, bodies: [first, second, cut] };
};

const usage = (
  cacheRead: number,
  cacheWrite: number,
): { input: number; cacheRead: number; cacheWrite: number; output: number } => ({
  input: 3,
  cacheRead,
  cacheWrite,
  output: 7,
});

test('a reply is shown as it came, whole or broken off, of the last attempt or an earlier one', async () => {
  const { place, session, bodies } = await served();
  const [first, , cut] = bodies;
  const raw = async (...words: readonly string[]): Promise<string> =>
    (await place.onrecord('show', session, ...words, '--raw')).stdout;
  expect(await raw('--reply', '1')).toBe(first);
  expect(await raw('--reply', '1', '--attempt', '1')).toBe(REFUSED);
  expect(await raw('--reply', '3')).toBe(cut);

  const pretty = await place.onrecord('show', session, '--reply', '1');
  expect(pretty.stderr).toContain(`Reply to request 1 of ${session}`);
  expect(pretty.stderr).toContain('attempt 2 of 2');
  expect(pretty.stderr).toContain('request-id: req_2');
  expect(pretty.stdout).toContain('· event 1\n{\n  "type": "message_start"');
  expect(pretty.stdout).toContain('"type": "message_stop"');

  const refused = await place.onrecord('show', session, '--reply', '1', '--attempt', '1', '--pretty');
  expect(refused.stderr).toContain('✗ Failed reply (overloaded) to request 1');
  expect(refused.stderr).toContain('status 529');
  expect(refused.stdout).toContain('"message": "Too many at once."');

  const broken = await place.onrecord('show', session, '--reply', '3');
  expect(broken.stderr).toContain('Failed reply (interrupted)');
  expect(broken.stdout).toMatch(/event \d+, without its end\n\{"type":"content_block_delta/);

  const json = JSON.parse(
    (await place.onrecord('show', session, '--reply', '2', '--json')).stdout,
  ) as unknown;
  expect(json).toMatchObject({ request: 2, attempt: 1, kind: 'response.received', body: bodies[1] });
  for (const columns of [60, 100]) {
    const lines = (await place.on({ columns }, 'show', session, '--reply', '2')).stdout
      .replaceAll(/\u001b\[\d+m/g, '')
      .split('\n');
    for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(columns);
  }
});

test('what is not there is said: no such request, no such attempt, a model without bytes', async () => {
  const { place, session } = await served();
  const none = await place.onrecord('show', session, '--reply', '9');
  expect(none.code).toBe(1);
  expect(none.stderr).toContain('It has 3 requests.');
  const attempt = await place.onrecord('show', session, '--reply', '2', '--attempt', '4');
  expect(attempt.stderr).toContain('Request 2 has these attempts: 1.');
  expect((await place.onrecord('show', session, '--attempt', '1')).stderr).toContain(
    '--attempt goes with --reply',
  );
  const both = await place.onrecord('show', session, '--reply', '1', '--request', '1');
  expect(both.stderr).toContain('--request and --reply do not go together');
  const other = clerk('- text: unused');
  const scripted = /s_[0-9A-Z]{8}/.exec((await other.onrecord('run', 'clerk', 'Begin.')).stdout)?.[0] ?? '';
  const silent = await other.onrecord('show', scripted, '--reply', '1');
  expect(silent.stderr).toContain('This model speaks without bytes');
  expect(silent.code).toBe(0);
});

test('what the provider said of its cache and the input stands beside the counts', async () => {
  const { place, session } = await served();
  const cache = await place.onrecord('cache', session);
  expect(cache.stdout).toContain('the provider says of its cache: system_changed, 4,900 tokens missed');
  expect(cache.stdout).toContain(
    'the provider changed the input: thinking_dropped at messages.1.content.0 (model_binding_mismatch)',
  );
  expect(cache.stdout).not.toContain('the record does not say why');
  const narrow = (await place.on({ columns: 64 }, 'cache', session)).stdout.replaceAll(/\u001b\[\d+m/g, '');
  expect(narrow).toMatch(/ {9}● the provider changed the input: .*\n {11}\S/);
  for (const line of narrow.split('\n')) expect(Array.from(line).length).toBeLessThanOrEqual(64);
  const shown = await place.onrecord('show', session);
  expect(shown.stdout).toContain('answers, the provider made 1 change to the input');
});
