/**
 * What `npm start` does: serves the window over the example agents, with a session in it that waits for a person.
 *
 *   npm start [-- --folder PATH] [--port NUMBER] [--fresh] [--stay]
 *
 * It works in .onrecord/window, and what is there from before goes on; `--fresh` begins anew. It serves until Ctrl C or
 * SIGTERM. Where its standard input is no terminal it also ends when that input ends: in CI and with `npm start
 * </dev/null` it starts, sees that the page is served, says so and stops. `--stay` serves on all the same.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { STORE_PATH } from '../src/cli/config.ts';
import { EXIT, exitCodeOf } from '../src/cli/exit-code.ts';
import { main, type Process } from '../src/cli/main.ts';
import { EMPTY, line, own, SIGN } from '../src/cli/terminal/shown.ts';
import { badInput } from '../src/errors.ts';
import { SqliteLog } from '../src/log/sqlite.ts';
import { PORT } from '../src/server/listen.ts';
import { AGENT, CHECKOUT, isOurs, MESSAGE, screenOf, setUpFolder } from './demo-folder.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    port: { type: 'string', default: String(PORT) },
    fresh: { type: 'boolean', default: false },
    stay: { type: 'boolean', default: false },
  },
});
const folder = resolve(values.folder ?? join(CHECKOUT, '.onrecord', 'window'));
const screen = screenOf(process);
const isWatched = values.stay || process.stdin.isTTY;

/** A command of the product in the folder, with its output where it is wanted. */
const onrecord = (words: readonly string[], stdout: Writable, stderr: Writable): Promise<number> =>
  main({
    argv: [process.execPath, 'onrecord', ...words],
    env: process.env,
    stdin: process.stdin,
    stdout: stdout as Process['stdout'],
    stderr: stderr as Process['stderr'],
    cwd: () => folder,
    once: process.once.bind(process),
  });

const silence = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

const somethingWaits = async (): Promise<boolean> => {
  if (!existsSync(join(folder, STORE_PATH))) return false;
  const log = new SqliteLog(join(folder, STORE_PATH));
  try {
    return (await log.sessions({ status: ['waiting', 'in-doubt'], limit: 1 })).length > 0;
  } finally {
    await log.close();
  }
};

/** What the server prints goes to the reader; the address in it is looked at where nobody else will. */
const printed = (seen: (url: string) => void): Writable =>
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      process.stdout.write(chunk);
      const url = /Serving on (http:\S+)/.exec(chunk.toString())?.[1];
      if (url !== undefined) seen(url);
      done();
    },
  });

/** Ends the server as an operator would, once the input has ended and a page was seen. */
const stopUnwatched = async (url: string): Promise<void> => {
  const page = await fetch(`${url}/sessions`, { headers: { accept: 'text/html' } });
  if (!page.ok || !(await page.text()).includes('id="root"'))
    throw badInput('page-missing', `${url}/sessions answered ${page.status} and no page.`);
  screen.out(
    line`${SIGN.ok} The page is served. Nobody watches: standard input is no terminal. So it stops when that`,
  );
  screen.out(own('  ends; npm start -- --stay serves on.'));
  process.stdin.resume();
  if (!process.stdin.readableEnded) await once(process.stdin, 'end');
  process.emit('SIGTERM', 'SIGTERM');
};

const start = async (): Promise<number> => {
  if (values.fresh || !isOurs(folder)) setUpFolder(folder);
  if (!(await somethingWaits())) {
    screen.out(own('The inbox assistant is at its job. The model is a script: no key, no network.'));
    const code = await onrecord(['run', AGENT, MESSAGE], silence(), silence());
    if (code !== EXIT.waiting && code !== EXIT.done) return code;
  }
  screen.out(own('A session waits for you: open the address below and decide.'), EMPTY);
  const unwatched = Promise.withResolvers<void>();
  const serving = onrecord(
    ['serve', '--port', values.port],
    printed((url) => {
      if (!isWatched) unwatched.resolve(stopUnwatched(url));
    }),
    process.stderr,
  );
  const first = await Promise.race([serving, unwatched.promise]);
  return first ?? serving;
};

try {
  process.exitCode = await start();
} catch (error) {
  screen.error(error);
  process.exitCode = exitCodeOf(error);
}
