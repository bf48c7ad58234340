/**
 * Shown when done, issue 5, point 4: a bundle made in one place verifies and opens in another with nothing but the
 * program: other folder, other process, no configuration, no store, no agents.
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Project } from '../cli/desk-stage.ts';
import { project as place, type Project as Place } from '../cli/project.ts';

const made = async (): Promise<{ here: Project; session: string; there: Place; file: string }> => {
  const here = new Project();
  const session = await here.session('office');
  const ran = await here.onrecord(['export', session]);
  expect(ran).toMatchObject({ code: 0 });
  const there = place({});
  copyFileSync(join(here.folder, `${session}.onrecord`), join(there.folder, 'got.onrecord'));
  return { here, session, there, file: 'got.onrecord' };
};

const ran = (there: Place, ...args: readonly string[]): ReturnType<Place['onrecord']> =>
  there.start(...args).done;

describe('a bundle on another machine', () => {
  it('verifies, is shown, replayed and made a page of, and nothing appears beside it', async () => {
    const { session, there, file, here } = await made();
    const verified = await ran(there, 'verify', file);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain(`The record of ${session} proves itself: `);
    expect(verified.stdout).toContain('decisions made again, all the same.');
    expect((await ran(there, 'show', file)).stdout).toContain('I prepare everything.');
    expect((await ran(there, 'show', file, '--timeline')).stdout).toContain('request 1');
    const raw = await ran(there, 'show', file, '--request', '2', '--raw');
    expect(raw.stdout).toBe((await here.onrecord(['show', session, '--request', '2', '--raw'])).stdout);
    expect((await ran(there, 'replay', file)).stdout).toContain('Replay is identical');
    expect((await ran(there, 'export', file, '--html', '-o', 'page.html')).code).toBe(0);
    expect(readFileSync(join(there.folder, 'page.html'), 'utf8')).toContain('id="approvals"');
    expect(existsSync(join(there.folder, '.onrecord'))).toBe(false);
  }, 240_000);

  it('goes into a store, where the session is the same to the byte and can be exported again', async () => {
    const { session, there, file, here } = await made();
    expect((await ran(there, 'import', file)).stdout).toContain(`${session} is in the store now`);
    expect((await ran(there, 'verify', '--all')).stdout).toContain('1 session of the store, all whole');
    expect((await ran(there, 'approvals')).stdout).toContain(session);
    expect((await ran(there, 'import', file)).stdout).toContain('is there already');
    expect((await ran(there, 'export', session, '-o', 'again.onrecord')).code).toBe(0);
    expect(
      readFileSync(join(there.folder, 'again.onrecord')).equals(readFileSync(join(there.folder, file))),
    ).toBe(true);
    // What was decided here goes there as what follows.
    const [approval] = await here.waiting(session);
    await here.withRuntime(async (runtime) => {
      if (!approval) throw new Error('it waits');
      await runtime.decide({
        session,
        call: approval.call,
        digest: approval.digest,
        decision: { do: 'reject' },
      });
      await runtime.rest(session);
    });
    await here.onrecord(['export', session, '--force']);
    copyFileSync(join(here.folder, `${session}.onrecord`), join(there.folder, file));
    expect((await ran(there, 'import', file)).stdout).toContain('was there up to an earlier event');
    expect((await ran(there, 'verify', '--all')).code).toBe(0);
  }, 240_000);

  it('that is damaged is named and refused, and leaves the store as it was', async () => {
    const { there, file, session } = await made();
    const path = join(there.folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('I prepare everything.', 'I prepare anything..'));
    const verified = await ran(there, 'verify', file, '--json');
    expect(verified.code).toBe(7);
    const { findings } = JSON.parse(verified.stdout) as { findings: { seq: number; kind: string }[] };
    expect(findings.map(({ kind }) => kind)).toEqual(['bundle', 'hash']);
    const imported = await ran(there, 'import', file);
    expect([imported.code, imported.stderr]).toEqual([7, expect.stringContaining('bundle-damaged')]);
    // Not even an empty one is made.
    expect((await ran(there, 'show', session)).stderr).toContain('store-not-found');
    writeFileSync(path, text.slice(0, -40));
    expect((await ran(there, 'import', file)).stderr.replaceAll(/\s+/g, ' ')).toContain(
      'is cut: no line feed ends it',
    );
    writeFileSync(path, text.replace('{"bundle":1,', '{"bundle":9,'));
    expect((await ran(there, 'verify', file)).code).toBe(6);
    writeFileSync(path, 'hello');
    expect((await ran(there, 'verify', file)).stderr).toContain('bundle-invalid');
  }, 240_000);

  it('is never written over a file that is there, nor made of a damaged record, and says what was removed', async () => {
    const { here, session } = await made();
    const again = await here.onrecord(['export', session]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('file-exists')]);
    const removed = await here.onrecord([
      'export',
      session,
      '--redact',
      'tool:mail.read',
      '-o',
      'r.onrecord',
    ]);
    expect(removed.stdout).toContain('Removed by tool:mail.read');
    expect(readFileSync(join(here.folder, 'r.onrecord'), 'utf8')).not.toContain(
      'Friday morning would suit us',
    );
    const shown = await here.onrecord(['verify', 'r.onrecord']);
    expect([shown.code, shown.stdout.replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('what is left of its text is not'),
    ]);
    expect((await here.onrecord(['replay', 'r.onrecord'])).stderr).toContain('bundle-redacted');
    expect((await here.onrecord(['import', 'r.onrecord'])).stderr).toContain('bundle-redacted');
    const page = await here.onrecord(['export', 'r.onrecord', '--html', '-o', 'r.html']);
    expect(page.code).toBe(0);
    const html = readFileSync(join(here.folder, 'r.html'), 'utf8');
    expect(html).toContain('Content was removed by rule (tool:mail.read)');
    expect(html).not.toContain('Friday morning would suit us');
    writeFileSync(join(here.folder, 'rules.txt'), '# what strangers wrote\ntool:mail.read\nfield:reason\n');
    const byFile = await here.process(['export', session, '--redact', '@rules.txt', '-o', 'x.onrecord']);
    expect([byFile.code, byFile.stderr]).toEqual([2, expect.stringContaining('redaction-matched-nothing')]);
    expect(existsSync(join(here.folder, 'x.onrecord'))).toBe(false);
  }, 240_000);
});
