/** A bundle is the session, the same bytes each time; whatever is changed in it is found; an import is all or nothing. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importBundle } from '../../src/bundle/import.ts';
import { LINE_BYTES_MAX } from '../../src/bundle/format.ts';
import { readBundle } from '../../src/bundle/read.ts';
import { isOnrecordError } from '../../src/errors.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import { settings } from '../kit/arbitrary.ts';
import { plan, Play } from '../kit/play.ts';
import { seededRandom } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { content, tool } from '../../src/index.ts';
import { Stage } from '../kit/stage.ts';
import { bytesOf, IMPORTER, linesOf, OWNER, pieces, readBack, resealed } from './sample.ts';

const played = async (): Promise<{ readonly store: LogStore; readonly session: string }> => {
  const stage = new Stage({
    says: (turn, step) =>
      step === 1
        ? { text: 'I go on.', calls: [{ tool: 'file' }, { tool: 'said' }] }
        : { text: `Done ${turn}.` },
    tools: () => [
      tool({
        name: 'file',
        description: 'a file',
        inputSchema: { type: 'object' },
        effect: 'none',
        execute: () =>
          content({
            kind: 'bytes',
            bytes: Buffer.from([0, 255, 10, 13, 34]),
            type: 'image/x-raw',
            name: 'a\nb',
          }),
      }),
      tool({
        name: 'said',
        description: 'a text',
        inputSchema: { type: 'object' },
        effect: 'none',
        execute: () => 'a "text" with \u2028 and \ud83d\ude00 and \u0000',
      }),
    ],
  });
  await stage.open();
  const session = await stage.send('Go on.');
  await stage.runtime.rest(session);
  await stage.close();
  return { store: stage.store, session };
};

/** Spaces without a line feed, for ever. */
async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(4 * 1024 * 1024, 0x20);
}

describe('a bundle', () => {
  it('is the same bytes for the same session, from whatever store', async () => {
    const { store, session } = await played();
    const bytes = await bytesOf(store, session);
    expect((await bytesOf(store, session)).equals(bytes)).toBe(true);
    const sqlite = openSqlite(tempFile());
    const { bundle, verified } = await readBack(bytes);
    expect(await importBundle(sqlite, { bundle, verified }, IMPORTER)).toMatchObject({ outcome: 'new' });
    expect((await bytesOf(sqlite, session)).equals(bytes)).toBe(true);
    expect(bytes.toString('utf8').startsWith('{"bundle":1,')).toBe(true);
  });

  it('holds any session that can be played, and proves it', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (some) => {
        const play = new Play(some);
        try {
          await play.run();
          const bytes = await bytesOf(play.stage.store, play.session);
          const { store, verified } = await readBack(bytes);
          expect(verified.findings).toEqual([]);
          expect(await store.read(play.session)).toEqual(await play.stage.store.read(play.session));
        } finally {
          await play.stage.close();
        }
      }),
      settings({ numRuns: 40 }),
    );
  }, 120_000);

  it('with one flipped bit is found out, wherever it is', async () => {
    const { store, session } = await played();
    const bytes = await bytesOf(store, session);
    const random = seededRandom(4711);
    let [found, named] = [0, 0];
    const flips = Math.min(bytes.length * 8, 6000);
    for (let n = 0; n < flips; n++) {
      const at = Buffer.from(random.bytes(4)).readUInt32BE() % bytes.length;
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (n % 8));
      try {
        const { verified } = await readBack(flipped);
        if (verified.findings.length > 0) found++;
      } catch (error) {
        if (!isOnrecordError(error) || error.next === 'bug') throw error;
        named++;
      }
    }
    console.log(
      `${flips} bits flipped in a bundle of ${bytes.length} bytes: ${found} found, ${named} refused as no bundle.`,
    );
    expect(found + named).toBe(flips);
  }, 120_000);

  it('with a line taken, doubled, moved or added is found out, although its trailer was made anew', async () => {
    const { store, session } = await played();
    const { lines, trailer } = linesOf(await bytesOf(store, session));
    const events = lines.filter((line) => line.startsWith('{"event"')).length;
    const blobs = lines.length - events - 1;
    const tries: (readonly [string, readonly string[], object])[] = [];
    for (let i = 1; i < lines.length; i++) {
      const isEvent = i <= events;
      const less = isEvent ? { events: events - 1 } : { blobs: blobs - 1 };
      const more = isEvent ? { events: events + 1 } : { blobs: blobs + 1 };
      const line = lines[i] ?? '';
      if (i !== events) tries.push([`without line ${i}`, lines.toSpliced(i, 1), less]);
      tries.push([`with line ${i} twice`, lines.toSpliced(i, 0, line), more]);
      const next = lines[i + 1];
      if (next !== undefined && isEvent)
        tries.push([`with lines ${i} and ${i + 1} swapped`, lines.toSpliced(i, 2, next, line), {}]);
    }
    for (const [name, changed, counts] of tries) {
      const { verified } = await readBack(resealed(changed, { ...trailer, ...counts }));
      expect([name, verified.findings.length > 0]).toEqual([name, true]);
    }
    const whole = resealed(lines, trailer);
    const behind = await readBack(Buffer.concat([whole, Buffer.from('{"event":{},"hash":""}\n')]));
    expect(behind.verified.findings).toMatchObject([
      { message: expect.stringContaining('behind the end') as string },
    ]);
  });

  it('that was cut is found out at every length', async () => {
    const { store, session } = await played();
    const bytes = await bytesOf(store, session);
    for (let length = 0; length < bytes.length; length += 7) {
      const outcome = await readBack(bytes.subarray(0, length)).then(
        ({ verified }) => verified.findings.length,
        (error: unknown) => (isOnrecordError(error) ? error.code : Promise.reject(error)),
      );
      expect([length, outcome === 0]).toEqual([length, false]);
    }
  });

  it('with blobs exchanged, or a foreign one added, is found out', async () => {
    const { store, session } = await played();
    const { lines, trailer } = linesOf(await bytesOf(store, session));
    const at = lines.findIndex((line) => line.includes('"blob":"'));
    const exchanged = lines.with(
      at,
      (lines[at + 1] ?? '').replace(
        /"blob":"[0-9a-f]+"/,
        /"blob":"[0-9a-f]+"/.exec(lines[at] ?? '')?.[0] ?? '',
      ),
    );
    expect((await readBack(resealed(exchanged, trailer))).verified.findings).not.toEqual([]);
    const foreign = [
      ...lines,
      '{"blob":"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9","text":"hello world"}',
    ];
    const added = await readBack(resealed(foreign, { ...trailer, blobs: Number(trailer['blobs']) + 1 }));
    expect(added.verified.findings).toMatchObject([
      { kind: 'bundle', message: expect.stringContaining('named by no event') as string },
    ]);
  });

  it('over a limit is refused by name, before it is kept', async () => {
    await expect(readBundle(endless())).rejects.toMatchObject({
      code: 'bundle-limit',
      message: expect.stringContaining(String(LINE_BYTES_MAX)) as string,
    });
    await expect(readBundle(pieces(Buffer.from('{"bundle":2,"session":"s"}\n')))).rejects.toMatchObject({
      code: 'bundle-too-new',
    });
    await expect(readBundle(pieces(Buffer.from('{"anything":1}\n')))).rejects.toMatchObject({
      code: 'bundle-invalid',
    });
    await expect(readBundle(pieces(Buffer.from('')))).rejects.toMatchObject({ code: 'bundle-invalid' });
  });

  it('with an event nested beyond reason is a finding, no overflow', async () => {
    const { store, session } = await played();
    const { lines, trailer } = linesOf(await bytesOf(store, session));
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const body = `{"at":1,"data":${deep},"seq":2,"type":"turn.accepted","v":1}`;
    const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(lines[2] ?? '')?.[1] ?? '';
    const changed = lines.with(2, `{"event":${body},"hash":"${hash}"}`);
    const { verified } = await readBack(resealed(changed, trailer));
    expect(verified.findings[0]).toMatchObject({
      kind: 'bundle',
      message: expect.stringContaining('canonical') as string,
    });
  });
});

describe('an import', () => {
  it('writes nothing of a bundle that does not prove itself', async () => {
    const { store, session } = await played();
    const bytes = await bytesOf(store, session);
    const { lines, trailer } = linesOf(bytes);
    const forged = resealed(lines.with(2, (lines[2] ?? '').replace('Go on.', 'Go off')), trailer);
    const { bundle, verified } = await readBack(forged);
    const target = new MemoryLog();
    await expect(importBundle(target, { bundle, verified }, IMPORTER)).rejects.toMatchObject({
      code: 'bundle-damaged',
    });
    expect(await target.head(session)).toBeUndefined();
  });

  it('says that the same is there, refuses another history, and continues a shorter one', async () => {
    const { store, session } = await played();
    const all = await readBack(await bytesOf(store, session));
    const events = await store.read(session);
    const target = openSqlite(tempFile());
    await target.append({ session, expected: 0, events: events.slice(0, 3) });
    expect(await importBundle(target, all, IMPORTER)).toEqual({
      session,
      events: events.length - 3,
      outcome: 'continued',
    });
    expect(await target.read(session)).toEqual(events);
    expect(await importBundle(target, all, IMPORTER)).toEqual({
      session,
      events: 0,
      outcome: 'already-there',
    });
    const other = new MemoryLog();
    const { lines } = linesOf(await bytesOf((await played()).store, session));
    expect(lines.length).toBeGreaterThan(1);
    await other.append({
      session,
      expected: 0,
      events: [{ seq: 1, hash: 'f'.repeat(64) as never, body: '{}' }],
    });
    await expect(importBundle(other, all, IMPORTER)).rejects.toMatchObject({ code: 'session-differs' });
    expect((await other.head(session))?.seq).toBe(1);
  });

  it('does not continue a session that somebody drives', async () => {
    const { store, session } = await played();
    const all = await readBack(await bytesOf(store, session));
    const target = openSqlite(tempFile());
    await target.append({ session, expected: 0, events: (await store.read(session)).slice(0, 3) });
    await target.claim({
      session,
      owner: { ...OWNER, id: 'driver' },
      now: 900,
      leaseMs: 10_000,
      isGone: () => false,
    });
    await expect(importBundle(target, all, IMPORTER)).rejects.toMatchObject({ code: 'session-driven' });
    expect((await target.head(session))?.seq).toBe(3);
  });
});
