/** Who may decide, until when, and a grant for further calls: told by the plain commands, in processes of their own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRIEF_MS } from './desk-agents.ts';
import { ME, Project } from './desk-stage.ts';

const digestOf = async (project: Project, session: string): Promise<string> => {
  const [approval] = await project.waiting(session);
  if (!approval) throw new Error(`nothing waits in ${session}`);
  return approval.digest;
};

describe('who may decide', () => {
  it('is refused to anybody else with exit 10, and nothing is written', async () => {
    const project = new Project();
    const session = await project.session('guarded');
    const digest = await digestOf(project, session);
    const head = (await project.record(session)).state.seq;
    for (const args of [
      ['approve', session, '--digest', digest],
      ['reject', session],
      ['respond', session, '--text', 'x'],
      ['edit', session, '--digest', digest, '--args', '{"text":"b"}'],
    ]) {
      const ran = await project.onrecord(args);
      expect([args[0], ran.code, ran.stderr]).toEqual([
        args[0],
        10,
        `✗ ${ME.name} may not decide about call 1.1.1.  not-an-approver\n  It waits for ada, role:keeper.\n`,
      ]);
    }
    expect((await project.record(session)).state.seq).toBe(head);
    expect(project.effects).toEqual([]);
  });

  it('comes from the account and the roles that the configuration gives it', async () => {
    const project = new Project({ people: { [ME.name]: { roles: ['keeper'] } } });
    const session = await project.session('guarded');
    const ran = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect(ran.code).toBe(0);
    const [decided] = await project.events(session, 'approval.decided');
    expect(decided?.data.by).toEqual({ ...ME, roles: ['keeper'] });
    expect(project.effects).toHaveLength(1);
  });

  it('is shown in the list and on the card', async () => {
    const project = new Project();
    const session = await project.session('guarded');
    expect((await project.onrecord(['approvals'])).stdout).toContain('one of 2');
    const { stdout } = await project.onrecord(['approvals', session]);
    expect(stdout).toContain('Who may decide   ada or anyone with the role keeper\n');
    expect((await project.onrecord(['show', session])).stdout).toContain('waits for one of 2');
  });

  it('is refused in the configuration where roles are no list', async () => {
    const project = new Project({ people: { ada: { roles: 'finance' as never } } });
    const ran = await project.onrecord(['agents']);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('people.ada.roles must be a list')]);
  });
});

describe('four eyes', () => {
  it('keep the asker from approving and editing with exit 10, and not from rejecting', async () => {
    const project = new Project();
    const session = await project.session('careful', ME);
    const digest = await digestOf(project, session);
    const ran = await project.onrecord(['approve', session, '--digest', digest]);
    expect([ran.code, ran.stderr]).toEqual([10, expect.stringContaining('four-eyes')]);
    expect(ran.stderr).toContain('somebody else has to approve call 1.1.1');
    const edited = await project.onrecord(['edit', session, '--digest', digest, '--args', '{"text":"b"}']);
    expect(edited.code).toBe(10);
    const { stdout } = await project.onrecord(['approvals', session]);
    expect(stdout).toContain('Four eyes: you asked for this turn, so somebody else has to approve it.');
    expect((await project.onrecord(['reject', session, '--reason', 'No.'])).code).toBe(0);
    expect(project.effects).toEqual([]);
  });

  it('let anybody else approve', async () => {
    const project = new Project();
    const session = await project.session('careful', { kind: 'person', name: 'somebody-else' });
    const ran = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect(ran.code).toBe(0);
    expect(project.effects).toHaveLength(1);
  });
});

describe('a deadline', () => {
  it('is shown beforehand; a decision after it does nothing and says so, and the model is told', async () => {
    const project = new Project();
    const early = await project.session('brief');
    expect((await project.onrecord(['approvals', early])).stdout).toMatch(/asked .*, lapses /);
    const session = await project.session('brief', undefined, BRIEF_MS + 1000);
    const [approval] = await project.waiting(session);
    expect(approval?.terms.expiresAt).toBe((approval?.askedAt ?? 0) + BRIEF_MS);
    expect((await project.onrecord(['approvals', session])).stdout).toMatch(/asked .*, lapsed /);
    const late = await project.onrecord(['approve', session, '--digest', approval?.digest ?? '']);
    expect(late.code).toBe(1);
    expect(late.stderr).toMatch(
      /^✗ Did nothing: the question lapsed at (?:\w{3} )?[\d:]+ UTC, .+ before you\. {2}approval-expired$/m,
    );
    expect(project.effects).toEqual([]);
    expect((await project.onrecord(['resume', session])).stdout).toContain('It lapsed.');
    const shown = await project.onrecord(['show', session, '--timeline']);
    expect(shown.stdout).toContain('lapsed, nobody decided in time');
    const history = await project.onrecord(['approvals', session, '--history']);
    expect([history.code, history.stdout]).toEqual([0, expect.stringContaining('⊘ lapsed, nothing ran')]);
    const again = await project.onrecord(['approve', session, '--digest', approval?.digest ?? '']);
    expect(again.stderr).toContain('approval-expired');
  });
});

describe('a grant for further calls', () => {
  it('is for the same call again where nothing else is said, and covers no other', async () => {
    const project = new Project();
    const session = await project.session('again');
    const args = ['approve', session, '--digest', await digestOf(project, session), '--grant', '2h'];
    const ran = await project.onrecord(args);
    expect(ran.stdout).toContain('run without a question for 2 h, where\n    /text is "alpha"\n');
    expect(ran.stdout).toContain('    and there is no argument more\n');
    expect(ran.stdout).toContain('by the grant of 1.1.1');
    expect(ran.code).toBe(3);
    expect(project.effects).toEqual(['notes.add {"text":"alpha"}', 'notes.add {"text":"alpha"}']);
    const waiting = await project.waiting(session);
    expect(waiting.map(({ call }) => call)).toEqual(['1.2.2']);
    const { stdout } = await project.onrecord(['approvals', session]);
    expect(stdout).toContain('Grants that stand   none of it covers this call\n');
    expect(stdout).toContain('given by you with call 1.1.1 (event');
    const history = await project.onrecord(['approvals', session, '--history']);
    expect(history.stdout).toContain('✓ approved by you, with a grant for 2 h; started');
    const [decided] = await project.events(session, 'approval.decided');
    expect(decided?.data.decision).toEqual({
      do: 'approve',
      grant: {
        when: [
          { at: '', only: ['text'] },
          { at: '/text', equals: 'alpha' },
        ],
        forMs: 7_200_000,
      },
    });
  });

  it('is shown and taken back, by whoever looks; the same again says so', async () => {
    const project = new Project();
    const session = await project.session('again');
    await project.onrecord([
      'approve',
      session,
      '--digest',
      await digestOf(project, session),
      '--grant',
      '2h',
    ]);
    const shown = await project.onrecord(['grants', session]);
    // Late in the evening it ends on another day, and where the line is broken depends on how that is written.
    expect([shown.code, shown.stdout.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringMatching(
        /^▲ 1 grant stands in \S+: such calls run without a question notes\.add until .*, given by you with call 1\.1\.1 \(event \d+\), where /,
      ),
    ]);
    expect(shown.stderr).toContain(`onrecord revoke ${session}`);
    const taken = await project.onrecord(['revoke', session, '--call', '1.1.1', '--reason', 'wrong shelf']);
    expect([taken.code, taken.stdout]).toEqual([
      3,
      expect.stringContaining('✓ Taken back: notes.add is asked about again (the grant of call 1.1.1).\n'),
    ]);
    const [revoked, ...more] = await project.events(session, 'grant.revoked');
    expect([revoked?.data, more]).toEqual([{ grant: '1.1.1', by: ME, reason: 'wrong shelf' }, []]);
    expect((await project.onrecord(['show', session])).stdout).toMatch(
      /● you +took back the grant of 1\.1\.1 for notes\.add: wrong shelf/,
    );
    expect((await project.onrecord(['grants', session])).stdout).toContain('No grant stands');
    const again = await project.onrecord(['revoke', session, '--json']);
    expect([again.code, JSON.parse(again.stdout.split('\n')[0] ?? '')]).toEqual([
      3,
      { session, revoked: [], replayed: true },
    ]);
    const none = await project.onrecord(['revoke', session, '--call', '1.2.2']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('grant-not-found')]);
  });

  it('is told to programs, and given for named places', async () => {
    const project = new Project();
    const session = await project.session('single');
    const digest = await digestOf(project, session);
    const ran = await project.onrecord([
      'approve',
      session,
      '--digest',
      digest,
      '--same',
      '/text',
      '--grant',
      '15m',
      '--json',
    ]);
    const [first = ''] = ran.stdout.split('\n');
    expect(JSON.parse(first)).toMatchObject({
      decided: { do: 'approve', grant: { when: [{ at: '/text', equals: 'alpha' }], forMs: 900_000 } },
    });
  });

  it.each([
    ['a time without a unit', ['--grant', '2'], 'duration-invalid'],
    ['more than a week', ['--grant', '8d'], 'grant-invalid'],
    ['a place that is not there', ['--grant', '1h', '--same', '/to'], 'grant-invalid'],
    ['a place and no time', ['--same', '/text'], 'usage'],
  ])('is refused with %s, and nothing is approved', async (_name, options, code) => {
    const project = new Project();
    const session = await project.session('single');
    const digest = await digestOf(project, session);
    const ran = await project.onrecord(['approve', session, '--digest', digest, ...options]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(code)]);
    expect(await project.events(session, 'approval.decided')).toEqual([]);
  });
});

describe('what it would act on has changed', () => {
  it('asks again about the new preview, and says what became of the first question', async () => {
    const project = new Project();
    writeFileSync(join(project.folder, 'shelf.txt'), 'two cups');
    const session = await project.session('shelf');
    const digest = await digestOf(project, session);
    writeFileSync(join(project.folder, 'shelf.txt'), 'one plate');
    const ran = await project.onrecord(['approve', session, '--digest', digest]);
    expect(ran.code).toBe(3);
    expect(project.effects).toEqual([]);
    const { stdout } = await project.onrecord(['approvals', session]);
    expect(stdout).toContain(', for the 2nd time');
    expect(stdout).toContain('Asked before   approved by you,');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Changed since: the preview, what the tool will act on.',
    );
    expect(stdout).toContain('now    one plate');
    expect((await project.onrecord(['approvals', session, '--history'])).stdout).toContain(
      'approved by you; asked again: what it would act on had changed',
    );
    const again = await project.onrecord(['approve', session, '--digest', digest]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('digest-mismatch')]);
    const now = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect(now.code).toBe(0);
    expect(project.effects).toEqual(['shelf.set {"text":"three cups"}']);
  });
});
