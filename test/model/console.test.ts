/** A real process of the console with a real adapter against a stand-in: it works, and shows no credential anywhere. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { project, sessionIn } from '../cli/project.ts';
import { anthropicEvents, anthropicSse } from './scenario-anthropic.ts';

const KEY = 'sk-ant-console-5e6f7a8b9c';
const SRC = join(import.meta.dirname, '../../src/index.ts');

test('an agent file names a model; run, show, replay and verify work, and no output holds the key', async () => {
  let count = 0;
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    request.resume().on('end', () => {
      count++;
      if (count === 1) {
        // A provider that repeats the key in its error.
        response.writeHead(529, { 'content-type': 'application/json', 'retry-after-ms': '20' });
        const message = `Overloaded, ${request.headers.authorization ?? ''}.`;
        response.end(JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_42' });
      response.end(anthropicSse(anthropicEvents({ text: `I was sent ${KEY}. Hello, Ada.` })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const place = project({
    'onrecord.config.ts': `
import { anthropic, defineConfig } from '${SRC}';
const gateway = anthropic({ name: 'gateway', baseUrl: 'http://127.0.0.1:${port}', credential: 'GATEWAY_KEY' });
export default defineConfig({ agents: [], providers: [gateway] });
`,
    'agents/clerk.yaml':
      'instructions: Greet.\nmodel: { name: gateway/claude-x, params: { max_tokens: 99 } }\n',
  });
  vi.stubEnv('GATEWAY_KEY', KEY);
  vi.stubEnv('ANTHROPIC_LOG', 'debug');
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = await place.start('run', 'clerk', 'Say hello.').done;
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).toContain('Hello, Ada.');
  expect(run.stdout).toContain('[secret GATEWAY_KEY]');
  expect(keys).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);

  // On a terminal the text is shown as it comes, in pieces that split the key.
  const live = await place.on({ columns: 80 }, 'run', 'clerk', 'Once more.');
  expect(live.code).toBe(0);
  expect(live.stdout + live.stderr).toContain('GATEWAY_KEY]');

  const session = sessionIn(run.stdout);
  vi.stubEnv('GATEWAY_KEY', undefined);
  const looks = [
    ['show', session],
    ['show', session, '--json'],
    ['show', session, '3', '--json'],
    ['show', session, '4', '--json'],
    ['show', session, '--request', '1', '--raw'],
    ['replay', session],
    ['verify', session],
  ];
  const outputs: string[] = [run.stdout, run.stderr, live.stdout, live.stderr];
  for (const words of looks) {
    const { stdout, stderr, code } = await place.onrecord(...words);
    expect([words, code, stderr]).toEqual([words, 0, expect.any(String)]);
    outputs.push(stdout, stderr);
  }
  expect(outputs.join('')).toContain('req_42');
  expect(outputs.filter((text) => text.includes(KEY))).toEqual([]);
  const folder = join(place.folder, '.onrecord');
  for (const name of readdirSync(folder))
    expect([name, readFileSync(join(folder, name)).includes(KEY)]).toEqual([name, false]);
}, 120_000);
