import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallId } from '../../src/index.ts';
import type { Approval } from '../../src/view/approval.ts';
import { Project } from './desk-stage.ts';

const one = async (project: Project, session: string, call?: CallId): Promise<Approval> => {
  const waiting = await project.waiting(session);
  const found = call === undefined ? waiting[0] : waiting.find((approval) => approval.call === call);
  if (!found) throw new Error(`nothing waits in ${session}`);
  return found;
};

const jsonLines = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('approve', { timeout: 120_000 }, () => {
  it('runs what was seen, once, and drives the session to its end', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { call, digest } = await one(project, session);
    const ran = await project.onrecord(['approve', session, '--call', call, '--digest', digest]);
    expect(ran.stderr).toBe('');
    expect(ran.stdout).toContain(`✓ Approved: notes.add, call ${call}, recorded as event 7.`);
    expect(ran.stdout).toContain('The note is there.');
    expect(ran.code).toBe(0);
    expect(project.effects).toEqual(['notes.add {"text":"alpha"}']);
  });

  it('answers two calls of one step from two processes: A approved, B rejected', async () => {
    const project = new Project();
    const session = await project.session('pair');
    const [a, b] = await project.waiting(session);
    if (!a || !b) throw new Error('two calls wait');
    const first = await project.process(['approve', session, '--call', a.call, '--digest', a.digest]);
    expect(first.code).toBe(3);
    expect(first.stderr).toContain(`onrecord approvals ${session}`);
    const second = await project.process(['reject', session, '--call', b.call, '--reason', 'Not beta.']);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain(
      'The model is told: A person rejected this call; it was not run. Reason: Not beta.',
    );
    expect(project.effects).toEqual(['notes.add {"text":"alpha"}']);
  });

  it('takes the first 8 digits of the digest, and the one call that waits without --call', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { digest } = await one(project, session);
    const ran = await project.onrecord(['approve', session, '--digest', digest.slice(0, 8).toUpperCase()]);
    expect(ran.code).toBe(0);
    expect(project.effects).toHaveLength(1);
  });

  it.each([
    ['none', [], 'usage', 2],
    ['too short a one', ['--digest', 'abc1234'], 'digest-invalid', 2],
    ['no hexadecimal one', ['--digest', 'zzzzzzzzzz'], 'digest-invalid', 2],
    ['another', ['--digest', '0123456789abcdef'], 'digest-mismatch', 1],
  ])('with %s does nothing', async (_name, options, code, exit) => {
    const project = new Project();
    const session = await project.session('single');
    const head = (await project.record(session)).state.seq;
    const ran = await project.onrecord(['approve', session, ...options]);
    expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([exit, expect.stringContaining(code)]);
    expect(ran.stdout).toBe('');
    expect((await project.record(session)).state.seq).toBe(head);
    expect(project.effects).toEqual([]);
  });

  it('names the digest that stands, where another was given', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { digest } = await one(project, session);
    const ran = await project.onrecord(['approve', session, '--digest', '0123456789abcdef']);
    expect(ran.stderr).toContain(digest);
    expect(ran.stderr).toContain(`onrecord approvals ${session}`);
  });

  it('shows what has changed, where the digest is of an earlier question', async () => {
    const project = new Project();
    const session = await project.session('strict');
    const { digest } = await one(project, session);
    const asked = await project.onrecord([
      'edit',
      session,
      '--digest',
      digest,
      '--args',
      '{"text":"private"}',
    ]);
    expect(asked.code).toBe(3);
    const ran = await project.onrecord(['approve', session, '--digest', digest]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('digest-mismatch');
    expect(ran.stderr).toContain('Changed since: the arguments.');
    expect(ran.stderr).toContain('- │   "text": "public"');
    expect(ran.stderr).toContain('+ │   "text": "private"');
    expect(ran.stderr).toContain((await one(project, session)).digest);
    expect(project.effects).toEqual([]);
  });

  it('says who was faster, with what, when, and by how much', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { call, digest } = await one(project, session);
    await project.withRuntime(async (runtime) => {
      const by = { kind: 'person', name: 'ops-lead' } as const;
      await runtime.decide({ session, call, digest, decision: { do: 'reject' }, by });
      await runtime.rest(session);
    });
    const ran = await project.onrecord(['approve', session, '--call', call, '--digest', digest]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(
      /^✗ Did nothing: rejected by ops-lead at (?:\w{3} )?[\d:]+ UTC, [\d.]+ m?s before you\. {2}already-decided$/m,
    );
    expect(project.effects).toEqual([]);
  });

  it('says that the turn was cancelled', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { call, digest } = await one(project, session);
    await project.withRuntime(async (runtime) => {
      await runtime.cancel(session, { by: { kind: 'person', name: 'anna' } });
      await runtime.rest(session);
    });
    const ran = await project.onrecord(['approve', session, '--call', call, '--digest', digest]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('turn was cancelled by anna at');
    expect(ran.stderr).toContain('turn-cancelled');
    expect(project.effects).toEqual([]);
  });

  it('names the calls that wait, where the one that was named is not there', async () => {
    const project = new Project();
    const session = await project.session('single');
    const ran = await project.onrecord([
      'approve',
      session,
      '--call',
      '9.9.9',
      '--digest',
      '0123456789abcdef',
    ]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('call-not-found');
    expect(ran.stderr).toContain('Waiting here: 1.1.1 (notes.add).');
    const unknown = await project.onrecord(['approve', 's_NONE', '--digest', '0123456789abcdef']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('session-not-found')]);
    const odd = await project.onrecord(['approve', session, '--call', '1.1', '--digest', '0123456789abcdef']);
    expect(odd.stderr).toContain('call-invalid');
  });

  it('makes no store where there is none', async () => {
    const project = new Project();
    const ran = await project.onrecord(['approvals']);
    expect([ran.code, ran.stderr]).toEqual([9, expect.stringContaining('store-not-found')]);
    expect((await project.onrecord(['verify', '--all'])).code).toBe(9);
  });

  it('with --json prints one JSON value a line and nothing else', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { call, digest } = await one(project, session);
    const ran = await project.onrecord(['approve', session, '--digest', digest, '--json']);
    const [first, ...more] = jsonLines(ran.stdout);
    expect(first).toEqual({
      decided: { session, call, tool: 'notes.add', digest, do: 'approve', seq: 7, replayed: false },
    });
    expect(more.at(-1)).toMatchObject({ rest: { session, status: 'done' } });
    const refused = await project.onrecord(['reject', session, '--json']);
    expect(jsonLines(refused.stdout)).toEqual([
      { error: expect.objectContaining({ code: 'nothing-waits' }) },
    ]);
  });
});

describe('the same decision from two processes at once', () => {
  it('is one decision and one execution, 10 times', { timeout: 600_000 }, async () => {
    const ROUNDS = 10;
    const project = new Project();
    const sessions = await project.withRuntime(async (runtime) => {
      const made: string[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const { session } = await runtime.send({ agent: 'single', message: `round ${i}` });
        await runtime.rest(session);
        made.push(session);
      }
      return made;
    });
    let replayed = 0;
    for (const session of sessions) {
      const { digest } = await one(project, session);
      const args = ['approve', session, '--digest', digest, '--json'];
      const both = await Promise.all([project.process(args), project.process(args)]);
      const quiet = [0, expect.stringMatching(/^(?:Another process drives .* watches\.\n)?$/)];
      expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([quiet, quiet]);
      const told = both.map(
        ({ stdout }) => jsonLines(stdout)[0]?.['decided'] as { seq: number; replayed: boolean },
      );
      expect(new Set(told.map(({ seq }) => seq)).size).toBe(1);
      replayed += told.filter((decided) => decided.replayed).length;
      expect(await project.events(session, 'approval.decided')).toHaveLength(1);
      expect(await project.events(session, 'call.started')).toHaveLength(1);
    }
    expect(replayed).toBe(ROUNDS);
    expect(project.effects).toHaveLength(ROUNDS);
  });
});

describe('edit', { timeout: 120_000 }, () => {
  it('that breaks the schema is refused and changes nothing', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { digest } = await one(project, session);
    const head = (await project.record(session)).state.seq;
    for (const args of [
      '{"text":1}',
      '{"text":""}',
      '{"text":"a","more":1}',
      '{"text":',
      '[]',
      '{"text":"a","text":"b"}',
    ]) {
      const ran = await project.onrecord(['edit', session, '--digest', digest, '--args', args]);
      expect([args, ran.code, ran.stderr]).toEqual([args, 1, expect.stringContaining('arguments-invalid')]);
    }
    expect((await project.record(session)).state.seq).toBe(head);
    expect(project.effects).toEqual([]);
  });

  it('runs with the new arguments, and the model is told', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { digest } = await one(project, session);
    const file = join(project.folder, 'args.json');
    writeFileSync(file, '{ "text" : "gamma" }\n');
    const ran = await project.onrecord(['edit', session, '--digest', digest, '--args', `@${file}`]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('- │   "text": "alpha"');
    expect(ran.stdout).toContain('+ │   "text": "gamma"');
    expect(project.effects).toEqual(['notes.add {"text":"gamma"}']);
    const [, second] = await project.events(session, 'request.built');
    expect(JSON.stringify(second?.data)).toContain('A person changed the arguments of this call to');
  });

  it('takes its arguments from stdin, and no file that is not there', async () => {
    const project = new Project();
    const session = await project.session('single');
    const { digest } = await one(project, session);
    const missing = await project.onrecord(['edit', session, '--digest', digest, '--args', '@none.json']);
    expect(missing.stderr).toContain('file-not-readable');
    const ran = await project.process(['edit', session, '--digest', digest, '--args', '-'], {
      stdin: '{"text":"delta"}',
    });
    expect(ran.code).toBe(0);
    expect(project.effects).toEqual(['notes.add {"text":"delta"}']);
  });

  it('is judged by policy again: denied, it does not run', async () => {
    const project = new Project();
    const session = await project.session('strict');
    const { digest } = await one(project, session);
    const ran = await project.onrecord(['edit', session, '--digest', digest, '--args', '{"text":"secret"}']);
    expect(ran.code).toBe(0);
    expect(project.effects).toEqual([]);
    expect(await project.events(session, 'call.rejected')).toHaveLength(1);
  });
});

describe('respond', () => {
  it('executes nothing; the model gets the answer', async () => {
    const project = new Project();
    const session = await project.session('single');
    const ran = await project.onrecord(['respond', session, '--text', 'Ask again on Monday.']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('✓ Answered: notes.add, call 1.1.1');
    expect(project.effects).toEqual([]);
    expect(await project.events(session, 'call.started')).toEqual([]);
    const [, second] = await project.events(session, 'request.built');
    expect(JSON.stringify(second?.data)).toContain('Ask again on Monday.');
  });

  it('takes JSON with its digits, and one answer only', async () => {
    const project = new Project();
    const session = await project.session('single');
    const both = await project.onrecord(['respond', session, '--text', 'a', '--data', '1']);
    expect(both.code).toBe(2);
    const broken = await project.onrecord(['respond', session, '--data', '{']);
    expect(broken.stderr).toContain('data-invalid');
    await project.onrecord(['respond', session, '--data', '{"id":12345678901234567890}']);
    const [decided] = await project.events(session, 'approval.decided');
    expect(decided?.data.decision).toEqual({
      do: 'respond',
      content: [{ type: 'json', text: '{"id":12345678901234567890}' }],
    });
  });
});

describe('reject', () => {
  it('asks which, where several wait, and shows hidden characters of a reason', async () => {
    const project = new Project();
    const session = await project.session('pair');
    const which = await project.onrecord(['reject', session]);
    expect([which.code, which.stderr]).toEqual([
      2,
      expect.stringContaining('1.1.1 (notes.add), 1.1.2 (notes.add)'),
    ]);
    const ran = await project.onrecord([
      'reject',
      session,
      '--call',
      '1.1.1',
      '--reason',
      'no\u001b[2J\u202e\u200b',
    ]);
    expect(ran.stdout).toContain('no␛[2J<U+202E><U+200B>');
    expect(ran.stdout).not.toMatch(/[\u001b\u202e\u200b]/);
  });
});
