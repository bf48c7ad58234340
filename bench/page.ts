/** What the pages ask for when a session is opened, request by request, beside a bare HTTP server that answers as much. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES_FOLDER } from '../src/server/pages.ts';
import type { Told } from './door-process.ts';
import { inFolder, perform } from './measured-process.ts';
import type { Measured, Plan } from './part.ts';
import { spreadOf, type Spread } from './sample.ts';
import { count, figure, spread, type Table } from './table.ts';

const PROGRAM = join(import.meta.dirname, 'page-process.ts');
const STEPS: readonly number[] = [100, 10_000];
/** Of each address: the first answer is told by itself, the median is of the rest. */
const ASKED = 15;

type Asked = {
  readonly what: string;
  readonly steps: number;
  readonly bytes: number;
  readonly firstMs: number;
  readonly ms: Spread;
  readonly floorMs: Spread;
};

export const measurePage = async (plan: Plan): Promise<Measured> => {
  const asked: Asked[] = [];
  for (const steps of STEPS) {
    plan.progress(`pages of a session of ${count(steps)} steps`);
    asked.push(...(await inFolder(plan.scratch, (folder) => ofOneStore(folder, steps))));
  }
  return { tables: [tableOf(asked)], data: { asked } };
};

const ofOneStore = async (folder: string, steps: number): Promise<readonly Asked[]> => {
  const task = { kind: 'fill', folder, steps, killed: false } as const;
  const { answer } = await perform('product', task, { cwd: folder });
  return withServer('floor', (floor) =>
    withServer(answer.store, async (server) => {
      const asked: Asked[] = [];
      for (const { what, path, html } of addresses(answer.session)) {
        const headers = { authorization: `Bearer ${server.token}`, ...(html && { accept: 'text/html' }) };
        const first = await timed(`${server.url}${path}`, headers);
        const [times, floors]: [number[], number[]] = [[], []];
        for (let i = 0; i < ASKED; i++) {
          times.push((await timed(`${server.url}${path}`, headers)).ms);
          floors.push((await timed(`${floor.url}/${first.bytes}`, {})).ms);
        }
        const [ms, floorMs] = [spreadOf(times), spreadOf(floors)];
        asked.push({ what, steps, bytes: first.bytes, firstMs: first.ms, ms, floorMs });
      }
      return asked;
    }),
  );
};

type Address = { readonly what: string; readonly path: string; readonly html?: true };

/** In the order in which a browser asks for them. Without built pages only what they would ask the door for. */
const addresses = (session: string): readonly Address[] => {
  const assets = join(PAGES_FOLDER, 'assets');
  const scripts = existsSync(assets)
    ? readdirSync(assets).filter((file) => /^index-.*\.(?:js|css)$/.test(file))
    : [];
  return [
    ...(scripts.length > 0 ? [{ what: 'the page', path: `/s/${session}`, html: true } as const] : []),
    ...scripts.map((file) => ({
      what: file.endsWith('.js') ? 'its script' : 'its style',
      path: `/assets/${file}`,
    })),
    { what: 'the list of sessions', path: '/sessions' },
    { what: 'the head of the session', path: `/sessions/${session}` },
    { what: 'its first events', path: `/sessions/${session}/events` },
  ];
};

const withServer = async <T>(what: string, work: (server: Told) => Promise<T>): Promise<T> => {
  const child = fork(PROGRAM, [what], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  try {
    const [told] = (await Promise.race([
      once(child, 'message'),
      ended.then(() => Promise.reject(new Error('a measured server has ended'))),
    ])) as [Told];
    return await work(told);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
};

/** From the request to the last byte of the answer, over a connection that is kept. */
const timed = async (
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly ms: number; readonly bytes: number }> => {
  const began = performance.now();
  const response = await fetch(url, { headers });
  const { byteLength } = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return { ms: performance.now() - began, bytes: byteLength };
};

const tableOf = (asked: readonly Asked[]): Table => ({
  title: 'What opening a page asks for',
  columns: ['', 'steps', 'bytes', 'first ms', 'then ms', 'floor ms', '× floor'],
  rows: asked.map(({ what, steps, bytes, firstMs, ms, floorMs }) => [
    what,
    count(steps),
    count(bytes),
    figure(firstMs),
    spread(ms),
    figure(floorMs.median),
    figure(ms.median / floorMs.median),
  ]),
  note:
    'To the last byte of each answer, over a kept connection on loopback. First: right after the start of the server. ' +
    'The floor is a bare HTTP server of Node that answers with as many bytes. ' +
    (existsSync(PAGES_FOLDER)
      ? 'What the browser then does is not in it.'
      : 'The pages themselves were not built (npm run build:web), so only what they ask the door for is here.'),
});
