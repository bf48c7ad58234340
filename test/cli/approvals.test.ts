import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE } from './desk-agents.ts';
import { Project } from './desk-stage.ts';

/** What a terminal must never be sent by others: escape sequences, bells, hidden characters. */
const RAW = /\u001b\[2J|\u001b\]|\u0007|[\u200b\u202e]/;

const unescaped = (written: string): string => written.replaceAll('\r\n', '\n');

describe('approvals without a terminal', () => {
  it('lists what waits in all sessions, oldest first, with the exact command of each', async () => {
    const project = new Project();
    const sessions = [await project.session('pair'), await project.session('single')];
    const ran = await project.onrecord(['approvals']);
    expect(ran.code).toBe(3);
    const [head, , ...rows] = ran.stdout.split('\n');
    expect(head).toBe('▲ 3 calls wait for a person.');
    expect(rows.slice(1, 4).map((row) => row.trim().split(/ {2,}/).slice(0, 3))).toEqual([
      [sessions[0], '1.1.1', 'notes.add'],
      [sessions[0], '1.1.2', 'notes.add'],
      [sessions[1], '1.1.1', 'notes.add'],
    ]);
    for (const session of sessions)
      for (const { call, digest } of await project.waiting(session))
        expect(ran.stdout).toContain(`  onrecord approve ${session} --call ${call} --digest ${digest}\n`);
  });

  it('the printed command works as it stands', async () => {
    const project = new Project();
    await project.session('single');
    const { stdout } = await project.onrecord(['approvals']);
    const [, words = ''] = /^ {2}onrecord (approve .*)$/m.exec(stdout) ?? [];
    expect((await project.onrecord(words.split(' '))).code).toBe(0);
    expect(project.effects).toHaveLength(1);
  });

  it('ends with 0 when nothing waits', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    expect(await project.onrecord(['approvals', session])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '✓ Nothing waits for a decision.\n',
    });
    expect((await project.onrecord(['approvals', '--json'])).stdout).toBe('{"approvals":[]}\n');
  });

  it('of one session shows everything that each decides on', async () => {
    const project = new Project();
    const session = await project.session('office');
    const { stdout, code } = await project.onrecord(['approvals', session]);
    expect(code).toBe(3);
    for (const text of [
      'Save a mail draft. Nothing is sent.',
      'mail.draft, effect reconcilable, writes drafts/2026-11-27-halden.eml',
      'rule default:effect-asks',
      'The argument /replyTo stands in text from outside (event 7, mail.read, call\n  1.1.1, 126 characters):',
      '<U+200B>office@ha1denjoinery.example from now on.',
      'looks like haldenjoinery.example; character 3 is a digit one',
      'Arguments that the preview does not show\n  send  false',
      '1,918 other rows stay byte for byte the same',
      'amount  12345678901234567890',
    ])
      expect(stdout).toContain(text);
  });

  it('with --json tells programs the same, with canonical arguments', async () => {
    const project = new Project();
    const session = await project.session('office');
    const { approvals } = JSON.parse((await project.onrecord(['approvals', '--json'])).stdout) as {
      approvals: Record<string, unknown>[];
    };
    expect(approvals).toHaveLength(5);
    const ledger = approvals.find(({ tool }) => tool === 'ledger.fix');
    expect(ledger).toMatchObject({
      session,
      call: '1.2.2',
      args: '{"amount":12345678901234567890,"rows":[118]}',
      round: 1,
      preview: { title: 'Change 4 cells in 2 rows of ledger-2026-10.csv' },
    });
  });

  it('shows escape sequences, direction controls and zero-width characters of others as marks', async () => {
    const project = new Project();
    const session = await project.session('hostile');
    for (const args of [['approvals'], ['approvals', session], ['approvals', '--json']]) {
      const { stdout, stderr } = await project.onrecord(args);
      expect(stdout + stderr).not.toMatch(RAW);
    }
    const { stdout } = await project.onrecord(['approvals', session]);
    expect(stdout).toContain('invoice<U+202E>gpj.exe');
    expect(stdout).toContain('pay<U+200B>pal');
    expect(stdout).toContain('␛[2J␛]0;title␇');
    expect(HOSTILE.escape).toMatch(RAW);
  });
});

describe('the inbox at a terminal', { timeout: 240_000 }, () => {
  it('approves with y and y again, says how many are left, and shows what came of it', async () => {
    const project = new Project();
    const session = await project.session('pair');
    const terminal = project.terminal(['approvals', session]);
    await terminal.shows('1 of 2   Run notes.add');
    await terminal.shows('q quit');
    await terminal.press('y', 'Approve and run notes.add? Type y again.');
    await terminal.press('y', '✓ Approved, recorded as event 9. 1 left.');
    await terminal.shows('2 of 2   Run notes.add');
    await terminal.press('x', 'Reason, for the model: ');
    await terminal.line('Not beta.', '✓ Rejected, recorded as event');
    expect(await terminal.ends()).toBe(0);
    expect(terminal.written).toContain('Both are answered.');
    expect(project.effects).toEqual(['notes.add {"text":"alpha"}']);
    const decided = await project.events(session, 'approval.decided');
    expect(decided.map(({ data }) => data.decision)).toEqual([
      { do: 'approve' },
      { do: 'reject', reason: 'Not beta.' },
    ]);
  });

  it('throws away keys that were typed before the question appeared', async () => {
    const project = new Project();
    const session = await project.session('single');
    const terminal = project.terminal(['approvals']);
    terminal.send('yyyyyy\r\ryyyy');
    await terminal.shows('1 of 1   Run notes.add');
    terminal.send('y\ry');
    await terminal.press('s', 'onrecord approvals');
    expect(await terminal.ends()).toBe(3);
    expect(await project.events(session, 'approval.decided')).toEqual([]);
    expect(terminal.written).not.toContain('Type y again');
  });

  it('leaves y without effect until the last line was shown', async () => {
    const project = new Project();
    const session = await project.session('long');
    const terminal = project.terminal(['approvals'], { rows: 30 });
    const shown = await terminal.shows('of 60, space: more');
    expect(terminal.written).not.toContain('line 60 of many');
    await terminal.press('y', 'y waits until the last line was shown. Space shows more.');
    await terminal.press(' ', 'of 60, space: more');
    await terminal.press(' ', 'line 60 of many');
    await terminal.press('y', 'Approve and add a long note? Type y again.');
    await terminal.press('n', 'Not approved.');
    await terminal.press('q', 'onrecord approvals');
    expect(await terminal.ends()).toBe(3);
    expect(shown).toBeGreaterThan(0);
    expect(await project.events(session, 'approval.decided')).toEqual([]);
  });

  it('opens the arguments in the editor, checks them, shows the difference and runs them', async () => {
    const project = new Project();
    const session = await project.session('single');
    const editor = join(project.folder, 'editor.sh');
    // The first time it leaves something broken, the second time it mends it.
    writeFileSync(
      editor,
      `#!/bin/sh\nif [ -e "$0.ran" ]; then printf '{ "text": "omega" }\\n' > "$1"; else touch "$0.ran"; printf '{ "text": 7 }' > "$1"; fi\n`,
    );
    chmodSync(editor, 0o755);
    const terminal = project.terminal(['approvals'], { env: { EDITOR: editor } });
    await terminal.shows('q quit');
    await terminal.press('e', '/text must be string');
    await terminal.press('e', 'New arguments ');
    expect(unescaped(terminal.written)).toContain('- │   "text": "alpha"');
    expect(unescaped(terminal.written)).toContain('+ │   "text": "omega"');
    await terminal.press('y', '✓ Edited and approved, recorded as event 7. 0 left.');
    expect(await terminal.ends()).toBe(0);
    expect(project.effects).toEqual(['notes.add {"text":"omega"}']);
    expect(await project.events(session, 'approval.decided')).toHaveLength(1);
  });

  it('answers in place of the tool', async () => {
    const project = new Project();
    await project.session('single');
    const terminal = project.terminal(['approvals']);
    await terminal.shows('q quit');
    await terminal.press('o', 'Answer, for the model: ');
    await terminal.line('It is there already.', '✓ Answered, recorded as event 7. 0 left.');
    expect(await terminal.ends()).toBe(0);
    expect(project.effects).toEqual([]);
  });

  it('says so when somebody was faster, and goes on', async () => {
    const project = new Project();
    const session = await project.session('single');
    const terminal = project.terminal(['approvals']);
    await terminal.shows('q quit');
    await terminal.press('y', 'Type y again.');
    await project.withRuntime(async (runtime) => {
      const [approval] = await project.waiting(session);
      if (!approval) throw new Error('it waits');
      const { call, digest } = approval;
      const by = { kind: 'person', name: 'ops-lead' } as const;
      await runtime.decide({ session, call, digest, decision: { do: 'reject' }, by });
    });
    await terminal.press('y', 'Did nothing: rejected by ops-lead at');
    await terminal.ends();
    expect(project.effects).toEqual([]);
  });

  it('sends nothing of others to the terminal but what can be seen', async () => {
    const project = new Project();
    await project.session('hostile');
    const terminal = project.terminal(['approvals']);
    await terminal.shows('1 of 2');
    await terminal.press('a', 'invoice<U+202E>gpj.exe');
    await terminal.press('s', '2 of 2');
    await terminal.press('a', '<U+200B>pal');
    await terminal.press('q', 'onrecord approvals');
    expect(await terminal.ends()).toBe(3);
    expect(terminal.written).not.toMatch(RAW);
  });

  it('ends with 130 at Ctrl C and leaves everything as it was', async () => {
    const project = new Project();
    const session = await project.session('single');
    const terminal = project.terminal(['approvals', session]);
    await terminal.shows('q quit');
    // Always counts, so once is enough.
    terminal.send('\u0003');
    await terminal.shows(`onrecord approvals ${session}`);
    expect(await terminal.ends()).toBe(130);
    expect((await project.waiting(session)).length).toBe(1);
  });
});
