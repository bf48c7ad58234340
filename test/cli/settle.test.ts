import { describe, expect, it } from 'vitest';
import { idempotencyKey } from '../../src/effect/key.ts';
import { Project } from './desk-stage.ts';

const CALL = '1.1.1';
const EFFECT = 'crm.note {"text":"moved to 4 Dec"}';

describe('settle', () => {
  it('lists what is known about a call in doubt, and ends with 4', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const ran = await project.onrecord(['settle']);
    expect(ran.code).toBe(4);
    for (const text of [
      '? 1 call is in doubt.',
      `${CALL}   Did crm.note happen?`,
      'crm.note, effect once',
      `doubt, ${session}, turn 1, step 1, call 1`,
      'socket hang up (tool-error)',
      idempotencyKey(session, CALL, '{"text":"moved to 4 Dec"}'),
      'Late results  none so far',
      '"text": "moved to 4 Dec"',
      `onrecord settle ${session} --call ${CALL} --not-happened`,
    ])
      expect(ran.stdout).toContain(text);
    const { doubts } = JSON.parse((await project.onrecord(['settle', '--json'])).stdout) as {
      doubts: Record<string, unknown>[];
    };
    expect(doubts).toEqual([
      expect.objectContaining({
        session,
        call: CALL,
        attempt: 1,
        reason: 'tool-error',
        late: [],
        turnEnded: false,
      }),
    ]);
  });

  it('ends with 0 when nothing is in doubt', async () => {
    const project = new Project();
    await project.session('single');
    expect(await project.onrecord(['settle'])).toMatchObject({ code: 0, stdout: '' });
  });

  it('“it happened”: nothing runs, and the model gets the result that was given', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const ran = await project.onrecord([
      'settle',
      session,
      '--happened',
      '{"ok":true}',
      '--note',
      'seen on the file',
    ]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('✓ Settled as “it happened”: call 1.1.1, recorded as event 9.');
    expect(ran.stdout).toContain(
      '│ [The run was interrupted; a person says that this happened.]\n  │ {"ok":true}',
    );
    expect(ran.stdout).toContain('The note is settled.');
    expect(project.effects).toEqual([EFFECT]);
    const [settled] = await project.events(session, 'call.settled');
    expect(settled?.data).toMatchObject({
      settlement: { answer: 'happened', content: [{ type: 'json', text: '{"ok":true}' }] },
      note: 'seen on the file',
    });
  });

  it('“it did not happen”: it runs once more', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const ran = await project.onrecord(['settle', session, '--call', CALL, '--not-happened']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('It runs again with the same arguments, as attempt 2.');
    expect(project.effects).toEqual([EFFECT, EFFECT]);
    expect((await project.events(session, 'call.started')).map(({ data }) => data.attempt)).toEqual([1, 2]);
  });

  it('“give up”: nothing runs, and the model is told that it is not known', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const ran = await project.onrecord(['settle', session, '--give-up', '--note', 'nobody answers']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('whether it happened is not known');
    expect(ran.stdout).toContain('Note: nobody answers');
    expect(project.effects).toEqual([EFFECT]);
    const [, second] = await project.events(session, 'request.built');
    expect(JSON.stringify(second?.data)).toContain('a person gave it up');
  });

  it('what the model is told is what was announced, to the letter', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const ran = await project.onrecord(['settle', session, '--happened', 'a "quoted" text', '--json']);
    const [first = ''] = ran.stdout.split('\n');
    const { settled } = JSON.parse(first) as { settled: { told: string } };
    const [, second] = await project.events(session, 'request.built');
    expect(JSON.stringify(second?.data.parts)).toContain(
      JSON.stringify(JSON.stringify(settled.told).slice(1, -1)).slice(1, -1),
    );
  });

  it('comes too late after another person, and stands where the same person said the same', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    await project.onrecord(['settle', session, '--give-up']);
    const again = await project.onrecord(['settle', session, '--call', CALL, '--give-up']);
    expect([again.code, again.stdout.split('\n')[0]]).toEqual([
      0,
      '✓ Settled before as “given up”: call 1.1.1, recorded as event 9.',
    ]);
    const other = await project.onrecord(['settle', session, '--call', CALL, '--not-happened']);
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(
      /Did nothing: settled as “given up” by \S+ at (?:\w{3} )?[\d:]+ UTC, .* before you\. {2}already-settled/,
    );
    expect(project.effects).toEqual([EFFECT]);
  });

  it('refuses two answers, an answer to nothing, and a call that is not in doubt', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const waiting = await project.session('single');
    const run = async (...args: readonly string[]): Promise<[number, string]> => {
      const { code, stderr } = await project.onrecord(['settle', ...args]);
      return [code, stderr.split('\n')[0]?.split('  ').at(-1) ?? ''];
    };
    expect(await run(session, '--give-up', '--not-happened')).toEqual([2, 'usage']);
    expect(await run('--give-up')).toEqual([2, 'usage']);
    expect(await run(session, '--call', CALL)).toEqual([2, 'usage']);
    expect(await run(waiting, '--give-up')).toEqual([1, 'nothing-in-doubt']);
    expect(await run(waiting, '--call', CALL, '--give-up')).toEqual([1, 'not-in-doubt']);
    expect(await run(session, '--call', '9.9.9', '--give-up')).toEqual([1, 'call-not-found']);
  });

  it('settles what a killed process left behind', { timeout: 120_000 }, async () => {
    const project = new Project();
    const died = await project.process(['run', 'crash', 'Go on.']);
    expect(died.code).not.toBe(0);
    const resumed = await project.onrecord(['resume', '--all']);
    expect(resumed.code).toBe(4);
    const listed = await project.onrecord(['settle']);
    expect(listed.stdout).toContain('its process was lost before a result was recorded.');
    expect(listed.stdout).toContain('no result recorded');
    const [, session = ''] = /onrecord settle (\S+) --call/.exec(listed.stdout) ?? [];
    const ran = await project.onrecord(['settle', session, '--happened', 'yes']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('Back again.');
    expect(project.effects).toEqual(['crm.crash {"text":"boom"}']);
  });

  it('after the turn has ended tells the model and runs nothing', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    expect((await project.onrecord(['cancel', session])).code).toBe(4);
    const listed = await project.onrecord(['settle', session]);
    expect(listed.stdout).toContain('Its turn has ended');
    const ran = await project.onrecord(['settle', session, '--not-happened']);
    expect(ran.stdout).toContain('a person says that it did not happen. It is not run any more.');
    expect(project.effects).toEqual([EFFECT]);
    expect((await project.onrecord(['settle'])).code).toBe(0);
  });
});

describe('the desk at a terminal', { timeout: 240_000 }, () => {
  it('says what follows from each answer, and records only what was confirmed', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const terminal = project.terminal(['settle']);
    await terminal.shows('What happened?');
    await terminal.shows('Runs once more with the same arguments, as attempt 2.');
    await terminal.press('2', 'Record “it did not happen” and run it again? Type y.');
    await terminal.press('k', 'Nothing was recorded.');
    expect(await project.events(session, 'call.settled')).toEqual([]);
    await terminal.press('1', 'Result, for the model: ');
    await terminal.line('{"ok": true}', 'Record “it happened”? Type y.');
    await terminal.press('y', '✓ Settled as “it happened”, recorded as event 9. 0 left.');
    expect(await terminal.ends()).toBe(0);
    expect(terminal.written).toContain('The note is settled.');
    expect(project.effects).toEqual([EFFECT]);
  });

  it('can be left with the doubt as it was', async () => {
    const project = new Project();
    const session = await project.session('doubt');
    const terminal = project.terminal(['settle', session]);
    await terminal.shows('q quit');
    await terminal.press('q', `onrecord settle ${session}`);
    expect(await terminal.ends()).toBe(4);
    expect(await project.events(session, 'call.settled')).toEqual([]);
  });
});
