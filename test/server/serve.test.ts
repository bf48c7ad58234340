/** onrecord serve as a real process: asked to end while it works, and what it printed and stored. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readEvents } from '../../src/client/server-events.ts';
import { OnrecordClient } from '../../src/client/client.ts';
import { CLOSE_MS } from '../../src/server/listen.ts';
import { DRAIN_MS } from '../../src/worker/runtime.ts';
import { project, ROOT, type Project, type Running } from '../cli/project.ts';

const CONFIG = `
import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { defineAgent, defineConfig, scriptedModel, tool } from ${JSON.stringify(join(ROOT, 'src/index.ts'))};

const slow = tool({
  name: 'slow',
  description: 'Takes until it may end.',
  inputSchema: { type: 'object' },
  effect: 'idempotent',
  timeoutMs: 60_000,
  approval: 'never',
  execute: async (_, { signal }) => {
    while (!existsSync('may-end')) await wait(20, undefined, { signal });
    return 'ended';
  },
});

export default defineConfig({
  agents: [
    defineAgent({
      name: 'clerk',
      instructions: 'Be exact.',
      model: scriptedModel({ name: 'fixed', steps: [{ calls: [{ tool: 'slow', args: {} }] }, { text: 'Done.' }] }),
      tools: [slow],
    }),
  ],
});
`;

type Served = { readonly running: Running; readonly url: string; readonly token: string };

const serve = async (place: Project, ...more: readonly string[]): Promise<Served> => {
  const running = place.start('serve', '--port', '0', '--json', ...more);
  const url = await running.said(/(?<="url":\s*")http:[^"]+(?=")/);
  const token = readFileSync(join(place.folder, '.onrecord/token'), 'utf8').trim();
  return { running, url, token };
};

/** As long as a client may wait for a turn. */
const WAIT_SECONDS = 60;
/** SIGTERM to the end where a connection that is kept holds it up: until it is cut, and then what runs has its time. */
const HELD_UP_MS = CLOSE_MS + DRAIN_MS;

/** One more reader of the stream, who never closes a connection by himself. */
const keeping = async ({ url, token }: Served, session: string): Promise<void> => {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
  socket.write(
    `GET /sessions/${session}/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await expect.poll(() => heard).toContain('call.started');
};

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

describe('SIGTERM', () => {
  test('while a turn runs and streams are open: streams are told, and the next process ends the turn', async () => {
    const place = project({ 'onrecord.config.ts': CONFIG });
    const first = await serve(place);
    const client = new OnrecordClient({ url: first.url, token: first.token });
    const { session } = await client.createSession({ agent: 'clerk', message: 'Go.' }, { key: 'k-1' });
    const read = async (started: () => void): Promise<readonly string[]> => {
      const response = await fetch(`${first.url}/sessions/${session}/stream`, {
        headers: { authorization: `Bearer ${first.token}` },
      });
      const types: string[] = [];
      if (!response.body) throw new Error('no stream');
      for await (const { type, data } of readEvents(response.body)) {
        types.push(type === 'end' ? data : type);
        if (type === 'call.started') started();
      }
      return types;
    };
    const started = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const readings = started.map(({ resolve }) => read(resolve));
    await Promise.all(started.map(({ promise }) => promise));
    await keeping(first, session);
    const waiting = client.turn(session, 1, WAIT_SECONDS);
    // Asked after it and answered: so the one that waits has arrived, too.
    for (let asked = 0; asked < 3; asked++) await client.session(session);
    const began = performance.now();
    first.running.kill('SIGTERM');
    const { code, stderr } = await first.running.done;
    expect([code, stderr]).toEqual([0, expect.stringContaining('Stopping')]);
    expect(performance.now() - began).toBeLessThan(HELD_UP_MS);
    for (const types of await Promise.all(readings)) expect(types.at(-1)).toBe('{"reason":"server-stops"}');
    // Whoever waited has an answer: that it runs.
    expect(await waiting).toMatchObject({ state: 'running' });
    writeFileSync(join(place.folder, 'may-end'), '');
    const second = await serve(place);
    const again = new OnrecordClient({ url: second.url, token: second.token });
    const turn = await again.createSession(
      { agent: 'clerk', message: 'Go.' },
      { key: 'k-1', waitSeconds: WAIT_SECONDS },
    );
    expect(turn).toMatchObject({ session, turn: 1, state: 'done', text: 'Done.' });
    second.running.kill('SIGTERM');
    expect((await second.running.done).code).toBe(0);
  }, 240_000);
});

describe('tokens', () => {
  test('stand in nothing that a server printed or stored, whatever was asked of it', async () => {
    const place = project({ 'onrecord.config.ts': CONFIG, 'may-end': '' });
    const { running, url, token } = await serve(place);
    const added = await place.onrecord('tokens', 'add', 'ben', '--roles', 'read');
    const other = added.stdout.trim();
    expect(other).toMatch(/^onr_/);
    const guess = 'onr_guessed-by-somebody-else';
    const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${url}${path}`, init);
    const json = { 'content-type': 'application/json' };
    const login = await ask('/login', { method: 'POST', headers: json, body: JSON.stringify({ token }) });
    const said = [await login.text()];
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    for (const [path, init] of [
      ['/sessions', { headers: { authorization: `Bearer ${token}` } }],
      ['/me', { headers: { cookie } }],
      [`/sessions?token=${token}`, { headers: { authorization: `Bearer ${other}` } }],
      [`/${token}`, { headers: { authorization: `Bearer ${guess}` } }],
      ['/login', { method: 'POST', headers: json, body: JSON.stringify({ token: guess }) }],
      ['/login', { method: 'POST', headers: json, body: `{"token":"${token}",` }],
      ['/metrics', { headers: { authorization: `Bearer ${token}` } }],
      ['/openapi.json', {}],
    ] as const)
      said.push(await (await ask(path, init)).text());
    const client = new OnrecordClient({ url, token });
    await client.createSession({ agent: 'clerk', message: 'Go.' }, { key: 'k', waitSeconds: WAIT_SECONDS });
    running.kill('SIGTERM');
    const { code, stdout, stderr } = await running.done;
    expect(code).toBe(0);
    const stored = filesIn(place.folder)
      .filter((path) => !path.endsWith('.onrecord/token'))
      .map((path) => readFileSync(path, 'latin1'));
    for (const secret of [token, other, guess])
      for (const [i, text] of [stdout, stderr, ...said, ...stored].entries())
        expect([i, text.includes(secret)]).toEqual([i, false]);
    expect(statSync(join(place.folder, '.onrecord/token')).mode & 0o777).toBe(0o600);
  }, 240_000);
});
