/** People are told as the configuration says: by a command of their own and by a signed webhook. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Project } from './desk-stage.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

type Posted = { readonly headers: IncomingHttpHeaders; readonly body: string };

const listening = async (): Promise<{ readonly url: string; readonly posted: Posted[] }> => {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      posted.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, posted };
};

describe('notify in the configuration', { timeout: 120_000 }, () => {
  it('tells by a command and by a signed webhook before a run ends, once', async () => {
    const { url, posted } = await listening();
    const project = new Project({
      notify: [{ command: ['./tell.sh'] }, { name: 'chat', webhook: { url, secretEnv: 'CHAT_SECRET' } }],
    });
    const script = join(project.folder, 'tell.sh');
    writeFileSync(script, '#!/bin/sh\ncat >> told.jsonl\n');
    chmodSync(script, 0o755);
    const env = { CHAT_SECRET: SECRET };
    const ran = await project.process(['run', 'single', 'Go on.'], { env });
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('onrecord approvals s_')]);
    const told = JSON.parse(readFileSync(join(project.folder, 'told.jsonl'), 'utf8')) as Record<
      string,
      string
    >;
    expect(told).toMatchObject({
      kind: 'approval.requested',
      agent: 'single',
      call: '1.1.1',
      tool: 'notes.add',
    });
    expect(posted).toHaveLength(1);
    const [{ headers, body }] = posted as [Posted];
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'approval.requested',
      data: { id: told['id'], call: '1.1.1' },
    });
    const session = told['session'] ?? '';
    const shown = await project.onrecord(['show', session, '--timeline'], { env });
    expect(shown.stdout).toContain('hook, chat told of the question');
    expect((await project.process(['doctor'], { env })).stdout).toContain('told by hook, chat');
    await project.process(['resume', session], { env });
    expect(posted).toHaveLength(1);
  });

  it('does not keep the work from going on where a secret is not set, and says who was not told', async () => {
    const { url, posted } = await listening();
    const project = new Project({ notify: [{ webhook: { url, secretEnv: 'CHAT_SECRET' } }] });
    const doctor = await project.onrecord(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining('CHAT_SECRET is not set')]);
    const ran = await project.process(['run', 'single', 'Go on.']);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain('▲ Not set, so nobody is told there: CHAT_SECRET.');
    expect(posted).toEqual([]);
    // Whoever has it tells what is left to be told.
    await project.process(['run', 'single', 'And again.'], { env: { CHAT_SECRET: SECRET } });
    expect(posted).toHaveLength(2);
  });

  it.each<[string, unknown, string]>([
    ['no list', { command: ['x'] }, 'notify must be a list'],
    ['neither way', [{}], 'notify[0] takes either command or webhook'],
    ['a command line as one text', [{ command: './tell.sh now' }], 'no list of words'],
    [
      'the secret itself',
      [{ webhook: { url: 'https://x.example', secretEnv: SECRET } }],
      'no environment variable',
    ],
    ['a word that is none', [{ comand: ['x'] }], 'notify[0] has "comand"'],
  ])('is refused with %s', async (_, notify, words) => {
    const project = new Project({ notify: notify as never });
    const ran = await project.onrecord(['agents']);
    expect([ran.code, ran.stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(words)]);
    expect(ran.stderr).not.toContain(SECRET);
  });
});
