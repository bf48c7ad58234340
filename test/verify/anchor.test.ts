/** Heads that were kept elsewhere find what a store that is whole in itself hides: a history written anew, an end cut off. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { summaryOf } from '../../src/session/summary.ts';
import { Project } from '../cli/desk-stage.ts';
import { deleteEvents, forge } from '../cli/tamper.ts';

const finished = async (project: Project): Promise<string> => {
  const session = await project.session('single');
  const [approval] = await project.waiting(session);
  await project.withRuntime(async (runtime) => {
    if (!approval) throw new Error('it waits');
    const { call, digest } = approval;
    await runtime.decide({ session, call, digest, decision: { do: 'approve' } });
    await runtime.rest(session);
  });
  return session;
};

const keys = (project: Project, name: string): { readonly secret: string; readonly open: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const write = (file: string, pem: string | Buffer): string => {
    writeFileSync(join(project.folder, file), pem);
    return file;
  };
  return {
    secret: write(`${name}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' })),
    open: write(`${name}.pub.pem`, publicKey.export({ type: 'spki', format: 'pem' })),
  };
};

/** What a careful forger leaves behind: the line that lists show fits the log again. */
const relist = async (project: Project, session: string): Promise<void> => {
  const { state } = await project.record(session);
  const summary = summaryOf(state);
  const { agent, status, canGoOn, updatedAt } = summary;
  const db = new DatabaseSync(project.storePath);
  db.prepare(
    'UPDATE session SET agent = ?, status = ?, can_go_on = ?, updated_at = ?, summary = ? WHERE name = ?',
  ).run(agent, status, Number(canGoOn), updatedAt, JSON.stringify(summary), session);
  db.close();
};

describe('an anchor', () => {
  it('finds an end that was cut where the log still rests, which nothing in the store can show', async () => {
    const project = new Project();
    const session = await finished(project);
    expect((await project.onrecord(['anchor', session, '-o', 'a.json'])).code).toBe(0);
    expect((await project.onrecord(['verify', session, '--anchor', 'a.json'])).code).toBe(0);
    // Back to where a person was asked: a session like any that waits.
    const { events } = await project.record(session);
    const asked = events.find(({ type }) => type === 'approval.requested')?.seq ?? 0;
    deleteEvents(project.storePath, session, asked + 1);
    await relist(project, session);
    expect((await project.onrecord(['verify', '--all'])).code).toBe(0);
    const ran = await project.onrecord(['verify', session, '--anchor', 'a.json']);
    expect([ran.code, ran.stdout]).toEqual([
      7,
      expect.stringContaining(`the log ends at event ${asked}: its end was cut off`),
    ]);
    expect((await project.onrecord(['verify', '--all', '--anchor', 'a.json'])).code).toBe(7);
  }, 240_000);

  it('finds a history that was written anew with every hash and decision right', async () => {
    const project = new Project();
    const session = await finished(project);
    await project.onrecord(['anchor', '--all', '-o', 'a.json']);
    // Another person approved, it says now. Facts follow from nothing, so nothing in the log is against it.
    forge(project.storePath, session, (body) => {
      if (body.type !== 'approval.decided') return undefined;
      return { ...body, data: { ...body.data, by: { kind: 'person', name: 'somebody else' } } };
    });
    expect((await project.onrecord(['verify', '--all'])).code).toBe(0);
    const ran = await project.onrecord(['verify', '--all', '--anchor', 'a.json']);
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringContaining('the log was written anew')]);
  }, 240_000);

  it('finds a session that is gone as a whole', async () => {
    const project = new Project();
    const session = await finished(project);
    await project.session('pair');
    await project.onrecord(['anchor', '--all', '-o', 'a.json']);
    deleteEvents(project.storePath, session, 1);
    const db = new DatabaseSync(project.storePath);
    db.prepare('DELETE FROM session WHERE name = ?').run(session);
    db.close();
    expect((await project.onrecord(['verify', '--all'])).code).toBe(0);
    const ran = await project.onrecord(['verify', '--all', '--anchor', 'a.json']);
    expect([ran.code, ran.stdout]).toEqual([7, expect.stringContaining(`Session ${session} is gone`)]);
  }, 240_000);

  it('that was signed holds only as it was signed, and only with the key that is named', async () => {
    const project = new Project();
    const session = await finished(project);
    const [mine, other] = [keys(project, 'mine'), keys(project, 'other')];
    expect((await project.onrecord(['anchor', '--all', '--key', mine.secret, '-o', 'a.json'])).code).toBe(0);
    const verify = (file: string, key: string): ReturnType<Project['onrecord']> =>
      project.onrecord(['verify', session, '--anchor', file, '--public-key', key]);
    const held = await verify('a.json', mine.open);
    expect([held.code, held.stdout]).toEqual([
      0,
      expect.stringMatching(/The anchor of .* holds, signed with that key\./),
    ]);
    expect(await verify('a.json', other.open)).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('anchor-forged') as string,
    });
    const text = readFileSync(join(project.folder, 'a.json'), 'utf8');
    writeFileSync(
      join(project.folder, 'b.json'),
      text.replace(/"seq":(\d+)/, (_, seq: string) => `"seq":${Number(seq) - 1}`),
    );
    expect((await verify('b.json', mine.open)).stderr).toContain('anchor-forged');
    await project.onrecord(['anchor', '--all', '-o', 'plain.json']);
    expect((await verify('plain.json', mine.open)).stderr).toContain('anchor-unsigned');
    await project.onrecord(['anchor', '--all', '--key', other.secret, '-o', 'c.json']);
    expect((await verify('c.json', mine.open)).code).toBe(7);
    for (const [file, code] of [
      [text.replace('{', '{ '), 'anchor-invalid'],
      ['{}', 'anchor-invalid'],
      [text.replace('"anchor":1', '"anchor":9'), 'anchor-too-new'],
    ] as const) {
      writeFileSync(join(project.folder, 'd.json'), file);
      expect([code, (await verify('d.json', mine.open)).stderr]).toEqual([
        code,
        expect.stringContaining(code),
      ]);
    }
    expect((await project.onrecord(['anchor', session, '--key', mine.open])).stderr).toContain('key-invalid');
  }, 240_000);

  it('every flipped bit of a signed one is found', async () => {
    const project = new Project();
    const session = await finished(project);
    const mine = keys(project, 'mine');
    await project.onrecord(['anchor', session, '--key', mine.secret, '-o', 'a.json']);
    const bytes = readFileSync(join(project.folder, 'a.json'));
    const { readAnchor } = await import('../../src/replay/anchor.ts');
    const { createPublicKey } = await import('node:crypto');
    const key = createPublicKey(readFileSync(join(project.folder, mine.open)));
    let found = 0;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        readAnchor(flipped.toString('utf8'), key);
      } catch {
        found++;
      }
    }
    console.log(`${bytes.length * 8} bits of an anchor flipped, ${found} found`);
    expect(found).toBe(bytes.length * 8);
  }, 240_000);
});
