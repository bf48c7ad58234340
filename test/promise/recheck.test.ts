/** What was approved is what runs: files that changed in between, looks that are old, tools that are others now. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/event/canonical.ts';
import type { CallState } from '../../src/session/state.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { calendarTools } from '../../src/tool/calendar/tools.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { mailTools } from '../../src/tool/mail/tools.ts';
import { tool, type Tool } from '../../src/tool/tool.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { audit } from '../kit/audit.ts';
import { calm, until } from '../kit/clock.ts';
import { openSqlite, tempFile, tempFolder } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';

const EDIT = { path: 'price.txt', old: 'a=1', new: 'a=9' };

const editing = (root: string): Stage =>
  new Stage({
    store: openSqlite(tempFile()),
    policy: { rules: [] },
    tools: () => fileTools({ root }),
    says: (_, step): ScriptReply =>
      step === 1 ? { calls: [{ tool: 'files.edit', args: EDIT }] } : { text: 'Done.' },
  });

const yes = async (stage: Stage, session: string, call: CallState | undefined): Promise<void> => {
  if (!call?.digest) throw new Error('the call is asked about');
  await stage.runtime.decide({ session, call: call.id, digest: call.digest, decision: { do: 'approve' } });
};

const HOUR_MS = 3_600_000;

test.each([
  [
    'mail.draft',
    { to: ['ada@corp.example'], subject: 'Friday', body: 'Friday is fine.' },
    (root: string) =>
      mailTools({
        drafts: join(root, 'drafts'),
        inbox: join(root, 'inbox'),
        from: { name: 'Desk', address: 'desk@corp.example' },
      }),
  ],
  [
    'calendar.create',
    { title: 'Review', start: '2026-12-04T10:00', end: '2026-12-04T11:00', zone: 'Europe/Vienna' },
    (root: string) => calendarTools({ path: join(root, 'calendar.db'), zone: 'Europe/Vienna' }),
  ],
  ['files.write', { path: 'note.txt', text: 'Friday.', new: true }, (root: string) => fileTools({ root })],
])(
  'a yes to %s that comes an hour later is to what was shown: nobody is asked again',
  async (name, args, tools) => {
    const root = tempFolder();
    for (const folder of ['drafts', 'inbox']) mkdirSync(join(root, folder));
    const stage = new Stage({
      policy: { rules: [] },
      tools: () => tools(root),
      says: (_, step): ScriptReply => (step === 1 ? { calls: [{ tool: name, args }] } : { text: 'Done.' }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    const [asked] = await stage.asking(session, '1.1.1');
    stage.clock.advance(HOUR_MS + 1500);
    await yes(stage, session, asked);
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
    const types = await stage.types(session);
    expect(types).toContain('call.result');
    expect(types).not.toContain('approval.invalidated');
  },
);

test('a file that changed between question and yes is asked about again, with the new diff, and is untouched', async () => {
  const root = tempFolder();
  const file = join(root, 'price.txt');
  writeFileSync(file, 'a=1\nb=2\n');
  const stage = editing(root);
  const runtime = await stage.open();
  const session = await stage.send();
  const [first] = await stage.asking(session, '1.1.1');
  writeFileSync(file, 'a=1\nb=3\n');
  await yes(stage, session, first);
  await runtime.rest(session);
  expect((await stage.types(session)).slice(-4)).toEqual([
    'approval.decided',
    'call.prepared',
    'approval.invalidated',
    'approval.requested',
  ]);
  expect(readFileSync(file, 'utf8')).toBe('a=1\nb=3\n');
  const [second] = await stage.asking(session, '1.1.1');
  expect(second?.digest).not.toBe(first?.digest);
  const shown = (await stage.events(session)).findLast(({ type }) => type === 'call.prepared');
  expect(JSON.stringify(shown?.data)).toMatch(/b=3/);
  await expect(yes(stage, session, first)).rejects.toMatchObject({ code: 'digest-mismatch' });

  await yes(stage, session, second);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(readFileSync(file, 'utf8')).toBe('a=9\nb=3\n');
  await audit(stage, session, await runtime.state(session));
  stage.expectNoWarnings();
});

test('a file in which the edit has no place any more is untouched, and the model hears why', async () => {
  const root = tempFolder();
  const file = join(root, 'price.txt');
  writeFileSync(file, 'a=1\nb=2\n');
  const stage = editing(root);
  const runtime = await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  writeFileSync(file, 'a=1\na=1\n');
  await yes(stage, session, call);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(await stage.event(session, 'call.refused')).toMatchObject({ data: { code: 'edit-ambiguous' } });
  expect(readFileSync(file, 'utf8')).toBe('a=1\na=1\n');
});

test('a file that changed under a freeze, after the yes, is asked about again when it is lifted', async () => {
  const root = tempFolder();
  const file = join(root, 'price.txt');
  writeFileSync(file, 'a=1\nb=2\n');
  const stage = editing(root);
  const runtime = await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  await runtime.setMode('frozen');
  await yes(stage, session, call);
  await calm();
  writeFileSync(file, 'a=1\nb=3\n');
  await runtime.setMode('normal');
  await stage.event(session, 'approval.invalidated');
  expect(readFileSync(file, 'utf8')).toBe('a=1\nb=2\n'.replace('2', '3'));
});

/** Appends to a real file; its preview is bound to what stands there, and its second look can be held back. */
const held = (file: string): { readonly tool: Tool; readonly looks: () => number; release(): void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let looks = 0;
  return {
    looks: () => looks,
    release: resolve,
    tool: tool<{ n: number }>({
      name: 'append',
      description: 'appends to a file',
      inputSchema: { type: 'object' },
      effect: 'once',
      preview: async () => {
        looks++;
        const base = sha256(readFileSync(file));
        if (looks === 2) await promise;
        return { title: 'Append a line', blocks: [], base };
      },
      execute: () => {
        writeFileSync(file, `${readFileSync(file, 'utf8')}appended\n`);
        return 'appended';
      },
    }),
  };
};

test('a look that a process took before it was stopped does not count for the next one', async () => {
  const file = join(tempFolder(), 'ledger');
  writeFileSync(file, 'one\n');
  const append = held(file);
  const stage = new Stage({
    policy: { rules: [] },
    tools: () => [append.tool],
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'append', args: { n: 1 } }] } : { text: 'Done.' }),
  });
  await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  await yes(stage, session, call);
  await until('it is looked at again', () => append.looks() === 2);
  // Told to stop, it still takes down what its tool says, and starts nothing.
  const closed = stage.runtime.close();
  append.release();
  await closed;
  expect((await stage.types(session)).slice(-2)).toEqual(['approval.decided', 'call.prepared']);
  writeFileSync(file, 'one\ntwo\n');
  stage.clock.advance(7 * 24 * 3_600_000);
  const runtime = await stage.open();
  expect(await runtime.rest(session)).toMatchObject({ status: 'waiting' });
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
  const [again] = await stage.asking(session, '1.1.1');
  await yes(stage, session, again);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nappended\n');
});

test('a tool whose definition is another one since the question is not started on that yes', async () => {
  const stage = new Stage({
    policy: { rules: [] },
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
  });
  await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  stage.crash();
  stage.clock.advance(60_000);
  const other = defineAgent({
    name: 'clerk',
    instructions: 'Be exact.',
    model: stage.agent.model,
    tools: [stage.world.tool('once', 'once', { description: 'does something else now' })],
  });
  const runtime = await stage.open({ agent: other });
  await yes(stage, session, call);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toEqual([]);
  expect(await stage.event(session, 'call.refused')).toMatchObject({ data: { code: 'tool-changed' } });
  expect(stage.heard.at(-1)?.body).toMatch(/definition of once has changed since it was offered/);
});

test('arguments edited to break a rule are asked about again, and what runs is what the second person saw', async () => {
  const stage = new Stage({
    policy: {
      rules: [{ id: 'big', when: [{ at: '/n', atLeast: 100 }], do: 'ask', ask: { by: ['role:cfo'] } }],
    },
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
  });
  const runtime = await stage.open();
  const session = await stage.send();
  const [small] = await stage.asking(session, '1.1.1');
  const ref = { session, call: '1.1.1', digest: small?.digest ?? ('' as never) } as const;
  const ben = { kind: 'person', name: 'ben' } as const;
  await runtime.decide({ ...ref, decision: { do: 'edit', args: '{"n":500}' }, by: ben });
  await runtime.rest(session);
  expect(stage.world.executions).toEqual([]);
  const [big] = await stage.asking(session, '1.1.1');
  expect(big).toMatchObject({ rule: 'big', args: '{"n":500}' });
  const second = { ...ref, digest: big?.digest ?? ('' as never), decision: { do: 'approve' } } as const;
  await expect(runtime.decide({ ...second, by: ben })).rejects.toMatchObject({ code: 'not-an-approver' });
  await runtime.decide({ ...second, by: { kind: 'person', name: 'cara', roles: ['cfo'] } });
  await runtime.rest(session);
  expect(stage.world.executions.map(({ args }) => args)).toEqual([{ n: 500 }]);
  expect(stage.heard[1]?.body).toMatch(/A person changed the arguments of this call to/);
});
