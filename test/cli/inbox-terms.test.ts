/** The inbox at a real terminal: a grant given by keys, what is refused is said beforehand, what lapsed or changed is told. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRIEF_MS } from './desk-agents.ts';
import { ME, Project } from './desk-stage.ts';

describe('the inbox at a terminal', { timeout: 240_000 }, () => {
  it('grants with g: each value can be switched off, the time chosen, y given once more', async () => {
    const project = new Project();
    const session = await project.session('again');
    const terminal = project.terminal(['approvals', session]);
    await terminal.shows('1 of 1   Run notes.add');
    await terminal.shows('q quit');
    await terminal.press('g', '1  [x] /text is "alpha"');
    await terminal.press('1', '1  [ ] /text may be anything');
    await terminal.press('t', 'for 8 h, then each is asked about again');
    await terminal.press('y', '✓ Approved, recorded as event');
    await terminal.shows('Calls of notes.add in this session run without a question for 8 h, where');
    expect(await terminal.ends()).toBe(0);
    const [decided] = await project.events(session, 'approval.decided');
    expect(decided?.data.decision).toEqual({
      do: 'approve',
      grant: { when: [{ at: '', only: ['text'] }], forMs: 8 * 60 * 60 * 1000 },
    });
    expect(project.effects).toHaveLength(3);
    expect(terminal.written).toContain('by the grant of 1.1.1');
  });

  it('goes back to the card when nothing is granted', async () => {
    const project = new Project();
    const session = await project.session('single');
    const terminal = project.terminal(['approvals', session]);
    await terminal.shows('q quit');
    await terminal.press('g', 'y approve and grant it');
    await terminal.press('k', 'Nothing was granted, and nothing approved.');
    await terminal.press('y', 'Approve and run notes.add? Type y again.');
    await terminal.press('y', '✓ Approved');
    expect(await terminal.ends()).toBe(0);
    const [decided] = await project.events(session, 'approval.decided');
    expect(decided?.data.decision).toEqual({ do: 'approve' });
  });

  it('offers nothing that would be refused, says why, and goes on to the next card', async () => {
    const project = new Project();
    await project.session('guarded');
    const careful = await project.session('careful', ME);
    const terminal = project.terminal(['approvals']);
    await terminal.shows(`▲ ${ME.name} may not decide about call 1.1.1. It waits for ada, role:keeper.`);
    await terminal.shows('  s skip   ? help   q quit');
    expect(terminal.written).not.toContain('y approve');
    const said = terminal.written.length;
    await terminal.press('y', 'may not decide about call 1.1.1');
    expect(terminal.written.slice(said)).not.toContain('Type y again');
    await terminal.press('s', '2 of 2   Run notes.add');
    await terminal.shows('so somebody else has to approve');
    await terminal.shows('  x reject   o answer instead   s skip   ? help   q quit');
    await terminal.press('x', 'Reason, for the model: ');
    await terminal.line('Not alone.', '✓ Rejected, recorded as event');
    expect(await terminal.ends()).toBe(3);
    expect(await project.events(careful, 'approval.decided')).toHaveLength(1);
    expect(project.effects).toEqual([]);
  });

  it('says that a question lapsed while it was read', async () => {
    const project = new Project();
    const session = await project.session('brief');
    const terminal = project.terminal(['approvals']);
    await terminal.shows('q quit');
    expect(terminal.written).not.toContain('lapsed');
    await terminal.press('y', 'Type y again.');
    // Whoever drives it is the first to know.
    const ended = await project.withRuntime((runtime) => runtime.rest(session), BRIEF_MS);
    expect(ended.status).toBe('done');
    await terminal.press('y', 'Did nothing: the question lapsed at');
    await terminal.ends();
    expect(project.effects).toEqual([]);
    expect(await project.events(session, 'approval.decided')).toEqual([]);
  });

  it('shows a question again whose preview has changed since the yes', async () => {
    const project = new Project();
    writeFileSync(join(project.folder, 'shelf.txt'), 'two cups');
    const session = await project.session('shelf');
    const terminal = project.terminal(['approvals', session]);
    await terminal.shows('now    two cups');
    await terminal.shows('q quit');
    writeFileSync(join(project.folder, 'shelf.txt'), 'one plate');
    await terminal.press('y', 'Type y again.');
    await terminal.press('y', '✓ Approved, recorded as event');
    expect(await terminal.ends()).toBe(3);
    const second = project.terminal(['approvals', session]);
    await second.shows('Asked before   approved by you');
    await second.shows('now    one plate');
    await second.shows('q quit');
    await second.press('y', 'Type y again.');
    await second.press('y', '✓ Approved, recorded as event');
    expect(await second.ends()).toBe(0);
    expect(project.effects).toEqual(['shelf.set {"text":"three cups"}']);
  });
});
