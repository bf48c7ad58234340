/** A scenario's tools reach no host that it does not name, by whatever way they try. */
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns';
import { resolve4 } from 'node:dns/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from 'undici';
import { scriptedModel, tool } from '../../src/index.ts';
import type { Script } from '../../src/model/script.ts';
import type { ExamRun } from '../../src/suite/exam/exam.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { until } from '../kit/clock.ts';
import { runOne, shipped } from './exam-stage.ts';

let asked = 0;
const server = createServer((_, response) => {
  asked++;
  response.end('secret');
});
const ear = createSocket('udp4');
const heard: string[] = [];
let [port, udpPort] = [0, 0];

beforeAll(async () => {
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  ({ port } = server.address() as { readonly port: number });
  const bound = Promise.withResolvers<void>();
  ear.on('message', (message) => heard.push(message.toString()));
  ear.bind(0, '127.0.0.1', bound.resolve);
  await bound.promise;
  udpPort = ear.address().port;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  ear.close();
});

const played = async (execute: () => Promise<string>, network: readonly string[]): Promise<ExamRun> => {
  const base = await shipped('research/two-summaries');
  const reach = tool({
    name: 'reach',
    description: 'Reaches out.',
    inputSchema: { type: 'object' },
    effect: 'none',
    execute,
  });
  const script: Script = { name: 's', steps: [{ calls: [{ tool: 'reach' }] }, { text: 'Done.' }] };
  return runOne({
    ...base,
    model: scriptedModel(script),
    agent: ({ model = scriptedModel(script) }) =>
      defineAgent({ name: 'reacher', instructions: '', tools: [reach], model }),
    scenario: {
      ...base.scenario,
      network,
      turns: ['Reach.'],
      expect: {
        ...base.scenario.expect,
        calls: [{ tool: 'reach', end: 'ok' }],
        asked: [],
        changed: [],
        match: 'strict',
      },
    },
  });
};

const byUdp = (connected: boolean) => (): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = createSocket('udp4');
  const sent = (error: Error | null): void => {
    socket.close();
    if (error) reject(error);
    else resolve('sent');
  };
  if (!connected) socket.send('secret', udpPort, '127.0.0.1', sent);
  else
    socket.connect(udpPort, '127.0.0.1', (error?: Error) => {
      if (error) sent(error);
      else socket.send('secret', sent);
    });
  return promise;
};

const bySocket = (): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1', () => {
    socket.end('GET / HTTP/1.0\r\n\r\n');
  });
  socket
    .on('error', reject)
    .on('close', () => resolve('closed'))
    .resume();
  return promise;
};

const WAYS: readonly (readonly [string, () => Promise<string>])[] = [
  ['fetch', async () => (await fetch(`http://127.0.0.1:${port}/`)).text()],
  ['undici', async () => (await request(`http://127.0.0.1:${port}/`)).body.text()],
  ['a socket', bySocket],
  ['a datagram', byUdp(false)],
  ['a connected datagram', byUdp(true)],
];

// In this order: what an earlier scenario has opened stands in the pool of fetch and undici, kept alive.
test.each(WAYS)('by %s nothing gets out, unless the host is opened by name', async (_, execute) => {
  const before = [asked, heard.length] as const;
  const shut = await played(execute, []);
  expect(shut.verdict).toBe('failed');
  expect(shut.problems).toContainEqual({
    expectation: 'network',
    message: expect.stringContaining('127.0.0.1'),
  });
  expect([asked, heard.length]).toEqual(before);
  const opened = await played(execute, ['127.0.0.1']);
  expect([opened.verdict, opened.problems]).toEqual(['passed', []]);
  // A datagram is on its way when it is sent: the next test would hear it.
  await until('it got out', () => asked > before[0] || heard.length > before[1]);
});

const NAME = 'secret-word.example';

const QUESTIONS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['dns/promises', () => resolve4(NAME)],
  [
    'lookup',
    () =>
      new Promise((resolve, reject) => {
        lookup(NAME, (error, address) => (error ? reject(error) : resolve(address)));
      }),
  ],
  [
    'a resolver',
    () =>
      new Promise((resolve, reject) => {
        new Resolver().resolveTxt(NAME, (error, found) => (error ? reject(error) : resolve(found)));
      }),
  ],
];

test.each(QUESTIONS)('by %s no name is asked for that is not opened', async (_, ask) => {
  const run = await played(async () => String(await ask()), []);
  expect(run.verdict).toBe('failed');
  expect(run.problems).toContainEqual({
    expectation: 'network',
    message: expect.stringContaining(NAME),
  });
});

test('when nobody examines, nothing is guarded', async () => {
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('secret');
});
