/** The console over a store that a newer program has written to: what can be shown is shown, nothing is appended. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonical } from '../../src/event/canonical.ts';
import { chainHash } from '../../src/event/envelope.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { clerk, sessionIn, type Project } from './project.ts';

/** Two sessions that are done, the first with an event of a later program at its end. */
const mixed = async (): Promise<{ project: Project; newer: string; whole: string }> => {
  const project = clerk('  - text: Hello.\n    cost: 0.01\n');
  const newer = sessionIn((await project.onrecord('run', 'clerk', 'One.')).stdout);
  const whole = sessionIn((await project.onrecord('run', 'clerk', 'Two.')).stdout);
  const db = new DatabaseSync(join(project.folder, '.onrecord/log.db'));
  try {
    const last = db
      .prepare(
        'SELECT session, seq, hash FROM event WHERE session = (SELECT id FROM session WHERE name = ?) ORDER BY seq DESC LIMIT 1',
      )
      .get(newer) as { session: number; seq: number; hash: Uint8Array };
    const body = canonical({ at: 0, data: { of: 'sheep' }, seq: last.seq + 1, type: 'turn.dreamt', v: 1 });
    const hash = chainHash(Buffer.from(last.hash).toString('hex') as Digest, body);
    db.prepare('INSERT INTO event (session, seq, hash, body) VALUES (?, ?, ?, ?)').run(
      last.session,
      last.seq + 1,
      Buffer.from(hash, 'hex'),
      body,
    );
  } finally {
    db.close();
  }
  return { project, newer, whole };
};

test('show tells what it knows and then why it stops', async () => {
  const { project, newer } = await mixed();
  for (const how of [[], ['--timeline'], ['--timeline', '--events']]) {
    const { code, stdout, stderr } = await project.onrecord('show', newer, ...how);
    expect(code).toBe(6);
    expect(stdout).toContain('One.');
    expect(stderr).toContain('Event 6 is "turn.dreamt" version 1');
    expect(stderr).toContain('event-too-new');
    expect(stderr).not.toContain('fault of Onrecord');
  }
  expect((await project.onrecord('show', newer, '--until', '5')).code).toBe(0);
  expect((await project.onrecord('show', newer, '--request', '1')).stdout).toContain('"One."');
});

test('the event itself is shown as it stands', async () => {
  const { project, newer } = await mixed();
  const { code, stdout } = await project.onrecord('show', newer, '6');
  expect(code).toBe(6);
  expect(stdout).toContain('turn.dreamt  version 1');
  expect(stdout).toContain('"of": "sheep"');
  const raw = await project.onrecord('show', newer, '6', '--raw');
  expect(raw).toMatchObject({
    code: 0,
    stdout: '{"at":0,"data":{"of":"sheep"},"seq":6,"type":"turn.dreamt","v":1}',
  });
});

test('nothing is appended, by nobody', async () => {
  const { project, newer } = await mixed();
  for (const words of [
    ['send', newer, 'On.'],
    ['resume', newer],
    ['cancel', newer],
    ['fork', newer],
  ]) {
    const { code, stderr } = await project.onrecord(...words);
    expect([words[0], code]).toEqual([words[0], 6]);
    expect(stderr).toContain('nothing is appended to it');
  }
  const listed = JSON.parse((await project.onrecord('sessions', '--json')).stdout) as { session: string }[];
  expect(listed.find(({ session }) => session === newer)).toMatchObject({ events: 6 });
});

test('the other sessions are replayed and listed as ever; the exit code says that one was not judged', async () => {
  const { project, newer, whole } = await mixed();
  const all = await project.onrecord('replay', '--all');
  expect(all.code).toBe(6);
  expect(all.stdout).toContain(`▲ ${newer} cannot be replayed: Event 6 is "turn.dreamt"`);
  expect(all.stdout).toContain('✓ 1 session, all identical');
  expect(all.stdout).toContain('1 session not judged: a newer program wrote them');
  expect((await project.onrecord('replay', whole)).code).toBe(0);
  expect((await project.onrecord('replay', newer, '--until', '5')).code).toBe(0);
  expect((await project.onrecord('replay', newer)).code).toBe(6);
  for (const words of [['approvals'], ['settle'], ['doctor'], ['resume', '--all']])
    expect([words[0], (await project.onrecord(...words)).stderr]).not.toContain('fault of Onrecord');
});

test('--until shows how the session stands there', async () => {
  const { project, whole } = await mixed();
  const { code, stdout } = await project.onrecord('replay', whole, '--until', '3');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^✓ Replay is identical up to event 3 of 5: 3 events, 1 decision, 1 request byte for byte\.\n/,
  );
  expect(stdout).toContain('As it stands behind event 3: ◐ running, turn 1, step 1, $0.0000');
  expect(stdout).toContain('Next: the answer of the model in step 1.1.');
  const json = JSON.parse(
    (await project.onrecord('replay', whole, '--until', '3', '--json')).stdout,
  ) as object;
  expect(json).toMatchObject({ identical: true, state: { status: 'running', turn: 1, step: 1, calls: [] } });
});
