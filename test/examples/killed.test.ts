/** kill -9 at every commit of every example's job, and another process goes on: no effect twice, nothing lost. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tempFolder } from '../kit/folder.ts';
import { LONG } from '../kit/long.ts';
import { EXAMPLES, Office, type ExampleName } from './office.ts';

type Ended = { readonly signal: string | undefined; readonly out: string };

/** Dozens of processes load the same modules. */
const cache = { NODE_COMPILE_CACHE: mkdtempSync(join(tmpdir(), 'onrecord-cache-')) };
afterAll(() => rmSync(cache.NODE_COMPILE_CACHE, { recursive: true, force: true }));

const job = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const command = [join(import.meta.dirname, 'child-job.ts'), ...args];
    execFile(process.execPath, command, { env: { ...process.env, ...cache } }, (error, out, errors) => {
      if (error?.signal === 'SIGKILL') resolve({ signal: 'SIGKILL', out });
      else if (error) reject(new Error(`child-job ${args.join(' ')}: ${errors}`));
      else resolve({ signal: undefined, out });
    });
  });

/** What a desk holds, the calendar by its rows because SQLite's pages depend on the way. */
const deskOf = (office: Office): unknown => ({
  files: office.changes(),
  ...(office.name === 'inbox-assistant' && { review: office.review() }),
});

const goOn = async (name: ExampleName, folder: string): Promise<unknown> => {
  const office = await Office.open(name, { folder });
  try {
    const [row] = await office.runtime.sessions();
    // Killed before the message was durable: nobody was told that it was accepted.
    const session = row?.session ?? (await office.send());
    await office.answer(session);
    const told = await office.told(session);
    expect(told.status).toBe('done');
    expect(told.inDoubt).toEqual([]);
    expect(told.replayed.difference).toBeUndefined();
    expect(told.verified.findings).toEqual([]);
    const results = told.events.flatMap((event) => (event.type === 'call.result' ? [event.data.call] : []));
    expect(new Set(results).size, 'a call has one result').toBe(results.length);
    const unhappy = told.events.filter(({ type }) => type === 'call.failed' || type === 'call.doubted');
    expect(unhappy).toEqual([]);
    return { desk: deskOf(office), text: told.text };
  } finally {
    await office.close();
  }
};

test.each(Object.keys(EXAMPLES) as ExampleName[])(
  '%s',
  async (name) => {
    const whole = tempFolder();
    const commits = Number((await job(name, whole, '0', 'before')).out);
    expect(commits).toBeGreaterThan(5);
    const expected = await goOn(name, whole);
    // Before a commit what was done has no record; after it what is on record has not been done. The latter
    // differs from the next "before" only where something with an effect starts: in the second half.
    const places = Array.from({ length: commits }, (_, at) => at + 1).flatMap((commit) =>
      commit > commits / 2
        ? [[String(commit), 'before'] as const, [String(commit), 'after'] as const]
        : [[String(commit), 'before'] as const],
    );
    const left = LONG ? places : places.filter((_, at) => at % 4 === commits % 4);
    const tried = left.length;
    let killed = 0;
    const worker = async (): Promise<void> => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [commit, when] = next;
        const folder = tempFolder();
        const { signal } = await job(name, folder, commit, when);
        // How many results share a commit is a matter of timing: the last number may not be reached.
        if (signal === 'SIGKILL') killed += 1;
        expect(await goOn(name, folder), `killed ${when} commit ${commit}`).toEqual(expected);
      }
    };
    await Promise.all([worker(), worker()]);
    expect(killed).toBeGreaterThan(tried * 0.6);
  },
  600_000,
);
