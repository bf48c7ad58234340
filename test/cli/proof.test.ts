import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Project, type Ran } from './desk-stage.ts';
import { deleteEvents, flipBlobBit, flipBodyBit, flipHashBit, forge } from './tamper.ts';

/** A session that ran to its end, with an approval in it. */
const finished = async (): Promise<{ project: Project; session: string }> => {
  const project = new Project();
  const session = await project.session('single');
  const [approval] = await project.waiting(session);
  await project.withRuntime(async (runtime) => {
    if (!approval) throw new Error('it waits');
    const { call, digest } = approval;
    await runtime.decide({ session, call, digest, decision: { do: 'approve' } });
    await runtime.rest(session);
  });
  return { project, session };
};

const findings = (ran: Ran): readonly { seq: number; kind: string }[] =>
  (JSON.parse(ran.stdout) as { findings: { seq: number; kind: string }[] }).findings.map(({ seq, kind }) => ({
    seq,
    kind,
  }));

describe('verify', () => {
  it('proves a whole record and names its head', async () => {
    const { project, session } = await finished();
    const ran = await project.onrecord(['verify', session]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(
      new RegExp(
        String.raw`^✓ The record of ${session} proves itself: 12 events, \d blobs, 2 requests\.\n {2}Head [0-9a-f]{4}…[0-9a-f]{4} at event 12\.`,
      ),
    );
    expect((await project.onrecord(['verify', session, '--full'])).stdout).toMatch(/Head [0-9a-f]{64} at/);
  });

  it('needs no agents and no configuration', async () => {
    const { project, session } = await finished();
    rmSync(join(project.folder, 'onrecord.config.ts'));
    expect((await project.onrecord(['verify', session])).code).toBe(0);
  });

  it('finds a flipped bit in any event, and names the event', async () => {
    const { project, session } = await finished();
    const { events } = await project.record(session);
    for (const { seq } of events) {
      const { project: copy, session: other } = { project, session };
      flipBodyBit(copy.storePath, other, seq, 0.5);
      const ran = await project.onrecord(['verify', session, '--json']);
      expect([seq, ran.code]).toEqual([seq, 7]);
      expect(findings(ran)[0]?.seq).toBe(seq);
      // The same bit again: the store is whole once more.
      flipBodyBit(copy.storePath, other, seq, 0.5);
    }
    expect((await project.onrecord(['verify', session])).code).toBe(0);
  }, 120_000);

  it('names an event whose packed body cannot even be unpacked', async () => {
    const { project, session } = await finished();
    flipBodyBit(project.storePath, session, 1, 0);
    const ran = await project.onrecord(['verify', session, '--json']);
    expect([ran.code, findings(ran)]).toEqual([7, [{ seq: 1, kind: 'unreadable' }]]);
    const all = await project.onrecord(['verify', '--all']);
    expect([all.code, all.stdout]).toEqual([7, expect.stringContaining('Event 1 cannot be read: ')]);
  });

  it('says what it found in words', async () => {
    const { project, session } = await finished();
    flipHashBit(project.storePath, session, 4);
    const ran = await project.onrecord(['verify', session]);
    expect(ran.code).toBe(7);
    expect(ran.stdout).toContain(`✗ The record of ${session} does not prove itself.  verify-damaged`);
    expect(ran.stdout).toContain('4  hash  Event 4 does not match its hash.');
    expect(ran.stdout).toContain('Events 1 to 3 are whole.');
  });

  it('finds a damaged blob', async () => {
    const { project, session } = await finished();
    flipBlobBit(project.storePath, 0);
    const ran = await project.onrecord(['verify', session, '--json']);
    expect(ran.code).toBe(7);
    expect(findings(ran).map(({ kind }) => kind)).toContain('blob-damaged');
  });

  it('finds a cut end by a head that was kept elsewhere', async () => {
    const { project, session } = await finished();
    const { head } = JSON.parse((await project.onrecord(['verify', session, '--json'])).stdout) as {
      head: string;
    };
    expect((await project.onrecord(['verify', session, '--head', head])).code).toBe(0);
    deleteEvents(project.storePath, session, 10);
    expect((await project.onrecord(['verify', session])).code).toBe(0);
    const cut = await project.onrecord(['verify', session, '--head', head.slice(0, 16)]);
    expect(cut.code).toBe(7);
    expect(cut.stdout).toContain('the log was cut or written anew');
    expect((await project.onrecord(['verify', session, '--head', 'xyz'])).stderr).toContain('digest-invalid');
  });

  it('--all checks every session, names the damaged one and goes on', async () => {
    const { project, session } = await finished();
    const other = await project.session('pair');
    flipHashBit(project.storePath, session, 2);
    const ran = await project.onrecord(['verify', '--all']);
    expect(ran.code).toBe(7);
    expect(ran.stdout).toContain(`The record of ${session} does not prove itself.`);
    expect(ran.stdout).not.toContain(other);
    expect(ran.stdout).toContain('1 session of 2 with damage');
    const lines = (await project.onrecord(['verify', '--all', '--json'])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { session: string }).session).sort()).toEqual(
      [session, other].sort(),
    );
  });

  it('takes one session or all of them', async () => {
    const project = new Project();
    await project.session('single');
    expect((await project.onrecord(['verify'])).code).toBe(2);
    expect((await project.onrecord(['verify', 's_X', '--all'])).code).toBe(2);
    expect((await project.onrecord(['verify', 's_X'])).stderr).toContain('session-not-found');
    expect((await project.onrecord(['verify', '--all'])).stdout).toMatch(
      /^✓ 1 session of the store, all whole: /,
    );
  });
});

describe('replay', () => {
  it('makes every decision again, byte for byte', async () => {
    const { project, session } = await finished();
    const ran = await project.onrecord(['replay', session]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(
      /^✓ Replay is identical: 12 events, 6 decisions, 2 requests byte for byte\.\n {2}No network, no tools, no clock\. [\d.]+ m?s\.\n$/,
    );
    expect(project.effects).toHaveLength(1);
  });

  it('stops after an event, and shows each step', async () => {
    const { project, session } = await finished();
    const ran = await project.onrecord(['replay', session, '--until', '5', '--step']);
    expect(ran.code).toBe(0);
    const [first, ...rest] = ran.stdout.split('\n');
    expect(first).toMatch(/^ 1 ● session\.created +given$/);
    expect(rest[3]).toMatch(/^ 5 ○ call\.proposed +turn 1, step 1, call 1 +✓ the same$/);
    expect(rest[4]).toContain('Replay is identical up to event 5 of 12');
    expect((await project.onrecord(['replay', session, '--until', '0'])).stderr).toContain('number-invalid');
  });

  it('finds a decision that was altered although its chain was computed anew', async () => {
    const { project, session } = await finished();
    forge(project.storePath, session, (body) => {
      if (body.type !== 'call.proposed') return undefined;
      return { ...body, data: { ...body.data, do: 'run' } };
    });
    expect((await project.onrecord(['verify', session])).code).toBe(0);
    const ran = await project.onrecord(['replay', session]);
    expect(ran.code).toBe(7);
    const [head, , where, at, recorded, now] = ran.stdout.split('\n');
    expect(head).toBe('✗ Replay differs at event 5 of 12.  replay-differs');
    expect(where).toBe('  call.proposed   turn 1, step 1, call 1');
    expect(at).toBe('  at  /do   whether the call runs or a person is asked');
    expect([recorded, now]).toEqual(['   - recorded   "run"', '   + now        "ask"']);
    expect(ran.stdout).toContain('Likely cause: ');
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toContain('The 4 events before are identical.');
    expect(ran.stderr).toContain(`onrecord replay ${session} --until 5 --diff`);
    const diff = await project.onrecord(['replay', session, '--until', '5', '--diff']);
    expect([diff.code, diff.stdout]).toEqual([7, expect.stringContaining('- │ "run"')]);
    const { difference, identical } = JSON.parse(
      (await project.onrecord(['replay', session, '--json'])).stdout,
    ) as {
      identical: boolean;
      difference: unknown;
    };
    expect(identical).toBe(false);
    expect(difference).toMatchObject({ seq: 5, path: '/do', recorded: 'run', now: 'ask' });
  });

  it('finds that a digest somebody approved was exchanged, and an approval that was none', async () => {
    const { project, session } = await finished();
    forge(project.storePath, session, (body) => {
      if (body.type !== 'approval.decided') return undefined;
      return { ...body, data: { ...body.data, decision: { do: 'reject' } } };
    });
    expect((await project.onrecord(['verify', session])).code).toBe(0);
    const ran = await project.onrecord(['replay', session]);
    expect(ran.code).toBe(7);
    expect(ran.stdout).toContain('Replay differs at event 8 of 12.');
    expect(ran.stdout).toContain('call.started');
  });

  it('shows within a request what its digests stand for', async () => {
    const { project, session } = await finished();
    forge(project.storePath, session, (body) => {
      if (body.type !== 'session.created') return undefined;
      const agent = body.data['agent'] as Record<string, unknown>;
      return {
        ...body,
        data: { ...body.data, agent: { ...agent, instructions: 'You are evil.' } },
      };
    });
    const ran = await project.onrecord(['replay', session, '--diff']);
    expect(ran.code).toBe(7);
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Likely cause: the prompt: the instructions are not what was sent.',
    );
    expect(ran.stdout).toContain('in the request  /instructions');
    expect(ran.stdout).toContain('- recorded   "You are single."');
    expect(ran.stdout).toContain('+ now        "You are evil."');
    expect(ran.stdout).toMatch(/\d+ {2}- │ {3}"instructions": "You are single\.",/);
  });

  it('says plainly that a log means nothing to it, instead of breaking', async () => {
    const { project, session } = await finished();
    forge(project.storePath, session, (body) => {
      if (body.type !== 'response.received') return undefined;
      return { ...body, data: { turn: 1, step: 1 } };
    });
    const ran = await project.onrecord(['replay', session]);
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain('record-damaged');
    expect(ran.stderr).not.toContain('fault of Onrecord');
  });

  it('--all goes over every session and names those that differ', async () => {
    const { project, session } = await finished();
    const waiting = await project.session('pair');
    const whole = await project.onrecord(['replay', '--all']);
    expect(whole).toMatchObject({ code: 0 });
    expect(whole.stdout).toMatch(
      /^✓ 2 sessions, all identical: 20 events, 11 decisions, 3 requests byte for byte\.\n/,
    );
    forge(project.storePath, session, (body) => {
      if (body.type !== 'turn.ended') return undefined;
      return { ...body, data: { ...body.data, outcome: 'stopped' } };
    });
    const ran = await project.onrecord(['replay', '--all']);
    expect(ran.code).toBe(7);
    expect(ran.stdout).toContain(`✗ ${session} differs at event 12 of 12: turn.ended /outcome`);
    expect(ran.stdout).not.toContain(waiting);
    const lines = (await project.onrecord(['replay', '--all', '--json'])).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
  });

  it('says which requests it could not compare, where an adapter is missing', async () => {
    const { project, session } = await finished();
    forge(project.storePath, session, (body) => {
      if (body.type !== 'session.created') return undefined;
      const agent = body.data['agent'] as Record<string, unknown>;
      const model = { ...(agent['model'] as object), provider: 'elsewhere' };
      return { ...body, data: { ...body.data, agent: { ...agent, model } } };
    });
    writeFileSync(join(project.folder, 'onrecord.config.ts'), 'export default { agents: [] };\n');
    const ran = await project.onrecord(['replay', session]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('▲ 2 requests were not compared: this build has no adapter for elsewhere.');
  });
});
