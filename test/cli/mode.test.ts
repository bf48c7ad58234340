/** onrecord mode: what may start, said and held by every process. */
import { describe, expect, it } from 'vitest';
import { ME, Project } from './desk-stage.ts';

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

const digestOf = async (project: Project, session: string): Promise<string> =>
  (await project.waiting(session))[0]?.digest ?? '';

describe('onrecord mode', () => {
  it('shows and sets the mode of the whole store: who, when and why', async () => {
    const project = new Project();
    await project.session('single');
    expect(await project.onrecord(['mode'])).toMatchObject({
      code: 0,
      stdout: '✓ The whole store is normal: calls start as policy says.\n',
    });
    const set = await project.onrecord(['mode', 'read-only', '--reason', 'stocktaking']);
    expect(set.stdout).toContain('✓ The whole store is read-only from now on');
    expect(set.stdout).toContain('Recorded as event 1 of control.');
    const shown = await project.onrecord(['mode']);
    expect(shown.stdout).toMatch(
      /^▲ The whole store is read-only: only tools without an effect start, set by you\s+(?:\w{3} )?[\d:]+ UTC: stocktaking$/m,
    );
    expect(shown.stderr).toContain('onrecord mode normal');
    expect(json((await project.onrecord(['mode', '--json'])).stdout)).toMatchObject({
      scope: 'store',
      mode: 'read-only',
      by: ME,
      reason: 'stocktaking',
      seq: 1,
    });
    expect((await project.onrecord(['mode', 'read-only'])).stdout).toContain('is read-only already');
    for (const args of [['sessions'], ['doctor'], ['show', (await project.session('single')) ?? '']])
      expect((await project.onrecord(args)).stdout).toContain('hole store is read-only');
    expect((await project.onrecord(['show', 'control'])).code).toBe(0);
  });

  it('withholds an approved effect while it is read-only: the model is told, the history says it', async () => {
    const project = new Project();
    const session = await project.session('single');
    await project.onrecord(['mode', 'read-only']);
    const ran = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect(ran.stdout).toContain('withheld, read-only');
    expect(project.effects).toEqual([]);
    expect((await project.onrecord(['approvals', session, '--history'])).stdout).toContain(
      '⊘ approved by you; withheld, the mode was read-only',
    );
    expect((await project.onrecord(['show', session, '--timeline'])).stdout).toContain('withheld, read-only');
  });

  it('holds everything while the store is frozen, with exit 3 and the command that lifts it', async () => {
    const project = new Project();
    const session = await project.session('single');
    await project.onrecord(['mode', 'frozen', '--reason', 'incident 12']);
    const ran = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect([ran.code, ran.stdout]).toEqual([
      3,
      expect.stringContaining('▲ Turn 1 is held: the whole store is frozen.'),
    ]);
    expect(ran.stderr).toContain('onrecord mode normal');
    expect(project.effects).toEqual([]);
    const fresh = await project.onrecord(['run', 'single', 'Go on.']);
    expect([fresh.code, fresh.stdout]).toEqual([3, expect.stringContaining('is frozen')]);
    expect((await project.onrecord(['mode', 'normal'])).code).toBe(0);
    const doctor = await project.onrecord(['doctor']);
    expect(doctor.stdout).toContain('onrecord resume --all');
    await project.onrecord(['resume', '--all']);
    expect(project.effects).toEqual(['notes.add {"text":"alpha"}']);
  });

  it('freezes one session alone, which the list and doctor say, and lets it go on', async () => {
    const project = new Project();
    const session = await project.session('single');
    const other = await project.session('single');
    expect((await project.onrecord(['mode', 'frozen', session])).code).toBe(0);
    const ran = await project.onrecord(['approve', session, '--digest', await digestOf(project, session)]);
    expect([ran.code, ran.stdout]).toEqual([
      3,
      expect.stringContaining('▲ Turn 1 is held: the session is frozen.'),
    ]);
    expect(ran.stderr).toContain(`onrecord mode normal ${session}`);
    expect(json((await project.onrecord(['mode', session, '--json'])).stdout)).toMatchObject({
      scope: 'session',
      session,
      mode: 'frozen',
    });
    expect((await project.onrecord(['sessions'])).stdout).toContain(`${session}  ▲ frozen`);
    expect((await project.onrecord(['doctor'])).stdout).toContain(`onrecord mode normal ${session}`);
    const free = await project.onrecord(['approve', other, '--digest', await digestOf(project, other)]);
    expect(free.code).toBe(0);
    const lifted = await project.onrecord(['mode', 'normal', session]);
    expect(lifted.stderr).toContain(`onrecord resume ${session}`);
    expect((await project.onrecord(['resume', session])).code).toBe(0);
    expect(project.effects).toHaveLength(2);
  });

  it('is what a run or a message begins with: a dry run says what it would do', async () => {
    const project = new Project();
    const ran = await project.onrecord(['run', 'shelf', 'Tidy up.', '--mode', 'dry-run']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('withheld, dry-run');
    expect(ran.stdout).toContain('▲ This session is dry-run: effects are shown and not done');
    expect(project.effects).toEqual([]);
    const session = await project.session('pair');
    const sent = await project.onrecord(['send', session, 'And now?', '--mode', 'frozen']);
    expect(sent.code).toBe(3);
    expect((await project.record(session)).state.mode.session).toBe('frozen');
  });

  it.each([
    ['a word that is none', ['mode', 'closed'], 'mode-unknown', 2],
    ['a reason and no mode', ['mode', '--reason', 'x'], 'usage', 2],
    ['a session that is not there', ['mode', 'frozen', 's_NONE'], 'session-not-found', 1],
    ['a mode for a run that is none', ['run', 'single', 'x', '--mode', 'off'], 'mode-unknown', 2],
  ])('with %s does nothing', async (_name, args, code, exit) => {
    const project = new Project();
    await project.session('single');
    const ran = await project.onrecord(args);
    expect([ran.code, ran.stderr]).toEqual([exit, expect.stringContaining(code)]);
    expect((await project.onrecord(['mode', '--json'])).stdout).toBe('{"scope":"store","mode":"normal"}\n');
  });

  it('makes no store where there is none: a typing mistake must not look like a closed gate', async () => {
    const project = new Project();
    const ran = await project.onrecord(['mode', 'frozen']);
    expect([ran.code, ran.stderr]).toEqual([9, expect.stringContaining('store-not-found')]);
  });
});
