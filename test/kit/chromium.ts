/** A real Chromium, where one is in PATH; a page opened in it behind a proxy that counts whoever comes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { tempFolder } from './folder.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'] as const;

export const chromium: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export type Opened = {
  /** The document after the page was loaded. */
  readonly dom: string;
  /** What the browser said, refusals by the page's policy among it. */
  readonly log: string;
  /** What reached the proxy, as first lines of requests, but for what the browser asks its maker by itself. */
  readonly requests: readonly string[];
  readonly ms: number;
};

/** Where a Chromium calls by itself, whatever page is open. */
const OWN = /^[A-Z]+ (?:https?:\/\/)?[\w.-]+\.(?:google|googleapis|gvt1)\.com[:/ ]/;

const DEADLINE_MS = 90_000;

/** Every request of the page would have to go through the proxy: no name is looked up anywhere else. */
export const opened = async (url: string, more: readonly string[] = []): Promise<Opened> => {
  if (chromium === undefined) throw new Error('no Chromium in PATH');
  const requests: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      requests.push(data.toString('latin1').split('\r\n')[0] ?? '');
      socket.destroy();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  const began = performance.now();
  const child = spawn(chromium, [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--enable-logging=stderr',
    `--user-data-dir=${tempFolder()}`,
    `--proxy-server=127.0.0.1:${port}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    ...more,
    '--dump-dom',
    url,
  ]);
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  let [dom, log] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (dom += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await once(child, 'close');
  clearTimeout(timer);
  const ms = performance.now() - began;
  proxy.close();
  return { dom, log, requests: requests.filter((line) => !OWN.test(line)), ms };
};
