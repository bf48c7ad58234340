/** People are told that something waits for them: each thing once on the record, whatever stops in between. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import { hookChannel, webhookChannel } from '../../src/worker/channels.ts';
import { NOTICE_ATTEMPTS_MAX, NOTICE_MS, type Channel, type Notice } from '../../src/worker/notifier.ts';
import { audit } from '../kit/audit.ts';
import { turn, until } from '../kit/clock.ts';
import { tempFolder } from '../kit/folder.ts';
import { Stage, type StageOptions } from '../kit/stage.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const asksOnce: StageOptions = {
  policy: { rules: [], ask: { by: ['ada', 'role:finance'], expiresMs: 60_000 } },
  says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
};

const noticesIn = (events: readonly LogEvent[]): readonly unknown[] =>
  events.filter(({ type }) => type === 'notice.sent').map(({ data }) => data);

/** A channel that keeps what it was given, and fails as often as it is told to. */
class Ear implements Channel {
  readonly name = 'ear';
  readonly heard: Notice[] = [];
  failures = 0;

  async deliver(notice: Notice): Promise<void> {
    this.heard.push(notice);
    if (this.failures-- > 0) throw new Error('The line is busy.');
  }
}

/** Lets time pass until the condition holds: retries wait for the clock. */
const passing = (stage: Stage, what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  until(what, async () => {
    if (await condition()) return true;
    stage.clock.advance(200);
    await turn();
    return false;
  });

const listen = async (
  answer: (request: IncomingMessage, body: string) => number,
): Promise<{ readonly url: string }> => {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => response.writeHead(answer(request, body), { location: '/elsewhere' }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
};

test('who asks while people are being told waits until what came meanwhile is told, too', async () => {
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  const channel: Channel = {
    name: 'ear',
    deliver: async ({ session }) => {
      heard.push(session);
      if (heard.length === 1) await first.promise;
    },
  };
  const stage = new Stage({ ...asksOnce, notify: [channel] });
  const runtime = await stage.open();
  const one = await stage.send();
  await stage.asking(one, '1.1.1');
  const telling = runtime.notify();
  await until('the first is being told', () => heard.length === 1);
  const other = await stage.send();
  await stage.asking(other, '1.1.1');
  const told = runtime.notify();
  first.resolve();
  await Promise.all([telling, told]);
  expect(heard).toEqual([one, other]);
  for (const session of [one, other]) expect(noticesIn(await stage.events(session))).toHaveLength(1);
});

test('a question is told once, with who may decide and until when, and without its arguments', async () => {
  const ear = new Ear();
  const stage = new Stage({ ...asksOnce, notify: [ear] });
  const runtime = await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  await passing(stage, 'it is on the record', async () => noticesIn(await stage.events(session)).length > 0);
  expect(ear.heard).toMatchObject([
    {
      kind: 'approval.requested',
      session,
      call: '1.1.1',
      tool: 'once',
      digest: call?.digest,
      by: ['ada', 'role:finance'],
      expiresAt: call?.terms?.expiresAt,
    },
  ]);
  expect(JSON.stringify(ear.heard)).not.toContain('"n":1');
  expect(noticesIn(await stage.events(session))).toEqual([
    { call: '1.1.1', topic: 'asked 1', channels: [{ name: 'ear', attempts: 1 }] },
  ]);
  await runtime.notify();
  stage.crash();
  await stage.open();
  await stage.runtime.notify();
  expect(ear.heard).toHaveLength(1);
  await audit(stage, session, await stage.state(session));
});

test('a process that stops after telling and before saying so leaves a notice with the same id', async () => {
  const ear = new Ear();
  const dying: Channel = {
    name: 'dying',
    deliver: (notice) => {
      if (ear.heard.length === 0) stage.crash();
      return ear.deliver(notice);
    },
  };
  const stage: Stage = new Stage({ ...asksOnce, notify: [dying] });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  await passing(stage, 'it is told', () => ear.heard.length > 0);
  expect(noticesIn(await stage.events(session))).toEqual([]);
  await stage.open();
  await passing(stage, 'it is told again', () => ear.heard.length > 1);
  await passing(stage, 'it is on the record', async () => noticesIn(await stage.events(session)).length > 0);
  expect(new Set(ear.heard.map(({ id }) => id)).size).toBe(1);
});

test('a channel that fails is tried again, then given up on the record; the others are not held up', async () => {
  const [bad, good] = [new Ear(), new Ear()];
  bad.failures = Infinity;
  const stage = new Stage({
    ...asksOnce,
    notify: [bad, { name: 'good', deliver: (notice) => good.deliver(notice) }],
  });
  const runtime = await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  await passing(stage, 'it is on the record', async () => noticesIn(await stage.events(session)).length > 0);
  expect(noticesIn(await stage.events(session))).toEqual([
    {
      call: '1.1.1',
      topic: 'asked 1',
      channels: [
        { name: 'ear', attempts: NOTICE_ATTEMPTS_MAX, problem: 'The line is busy.' },
        { name: 'good', attempts: 1 },
      ],
    },
  ]);
  expect(good.heard).toHaveLength(1);
  expect(bad.heard).toHaveLength(NOTICE_ATTEMPTS_MAX);
  expect((await runtime.sessions({ untold: true })).length).toBe(0);
});

test('a channel that never answers is given up after its time', async () => {
  let aborted = 0;
  const deaf: Channel = {
    name: 'deaf',
    deliver: (_, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => (aborted += 1), { once: true })),
  };
  const stage = new Stage({ ...asksOnce, policy: { rules: [] }, notify: [deaf] });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  await passing(stage, 'it is given up', async () => noticesIn(await stage.events(session)).length > 0);
  expect(JSON.stringify(noticesIn(await stage.events(session)))).toContain(
    `no answer within ${NOTICE_MS} ms`,
  );
  expect(aborted).toBe(NOTICE_ATTEMPTS_MAX);
});

test('a question that goes to further people is told again, to more of them', async () => {
  const ear = new Ear();
  const escalate = { afterMs: 10_000, to: ['role:boss'] };
  const stage = new Stage({
    ...asksOnce,
    policy: { rules: [], ask: { by: ['ada'], escalate } },
    notify: [ear],
  });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  await passing(stage, 'both are told', () => ear.heard.length === 2);
  expect(ear.heard).toMatchObject([
    { kind: 'approval.requested', by: ['ada'] },
    { kind: 'approval.escalated', by: ['ada', 'role:boss'] },
  ]);
});

test('a webhook carries a signature that others can check, and nothing but 2xx is delivered', async () => {
  const answers = [500, 302, 204];
  const seen: { headers: IncomingMessage['headers']; body: string; url: string | undefined }[] = [];
  const { url } = await listen((request, body) => {
    seen.push({ headers: request.headers, body, url: request.url });
    return answers.shift() ?? 204;
  });
  const channel = webhookChannel({ url, secret: SECRET });
  const notice: Notice = {
    id: 'notice_1',
    kind: 'call.in_doubt',
    session: 's',
    agent: 'clerk',
    title: 'Pay',
    call: '1.1.1',
    tool: 'pay',
    about: 'Pay 5 €',
  };
  const context = { signal: new AbortController().signal, now: Date.now() };
  await expect(channel.deliver(notice, context)).rejects.toThrow(/answered 500/);
  await expect(channel.deliver(notice, context)).rejects.toThrow(/answered 302/);
  await channel.deliver(notice, context);
  expect(seen.map((one) => one.url)).toEqual(['/hook', '/hook', '/hook']);
  for (const { headers, body } of seen) {
    const checked = new Webhook(SECRET).verify(body, headers as Record<string, string>);
    expect(checked).toMatchObject({ type: 'call.in_doubt', data: { session: 's', about: 'Pay 5 €' } });
    expect(() =>
      new Webhook(SECRET).verify(body.replace('Pay', 'Fay'), headers as Record<string, string>),
    ).toThrow(/signature/);
  }
});

test.each([
  ['http://example.com/hook', SECRET],
  ['https://name:word@example.com/hook', SECRET],
  ['nowhere', SECRET],
  ['https://example.com/hook', 'whsec_c2hvcnQ='],
  ['https://example.com/hook', 'not a secret'],
])('a webhook to %s with that secret is refused, and the secret is not repeated', (url, secret) => {
  expect(() => webhookChannel({ url, secret })).toThrowError(
    expect.objectContaining({ code: 'channel-invalid' }),
  );
  expect(() => webhookChannel({ url, secret })).not.toThrow(secret);
});

test('a hook is given the notice through stdin, without a shell in between, and its complaint is kept', async () => {
  const folder = tempFolder();
  const script = join(folder, 'hook.mjs');
  writeFileSync(
    script,
    `import { readFileSync, writeFileSync } from 'node:fs';
     writeFileSync(process.argv[2], readFileSync(0));
     if (process.argv[3] === 'fail') { console.error('No such channel.'); process.exit(3); }`,
  );
  const heard = join(folder, 'a file; echo $HOME');
  const notice = { id: 'n', kind: 'approval.requested', session: 's' } as Notice;
  const context = { signal: new AbortController().signal, now: 0 };
  await hookChannel({ command: [process.execPath, script, heard] }).deliver(notice, context);
  expect(JSON.parse(readFileSync(heard, 'utf8'))).toEqual(notice);
  const failing = hookChannel({ command: [process.execPath, script, heard, 'fail'] });
  await expect(failing.deliver(notice, context)).rejects.toThrow(/ended with 3: No such channel\./);
  await expect(hookChannel({ command: [join(folder, 'none')] }).deliver(notice, context)).rejects.toThrow(
    /ENOENT/,
  );
  expect(() => hookChannel({ command: [] })).toThrow(/needs a command/);
});

test('a hook that never ends is stopped when its time is over', async () => {
  const abort = new AbortController();
  const hook = hookChannel({ command: [process.execPath, '-e', 'setInterval(() => undefined, 1000)'] });
  const delivered = hook.deliver({ id: 'n' } as Notice, { signal: abort.signal, now: 0 });
  abort.abort();
  await expect(delivered).rejects.toThrow(/abort/);
});
