/** Instances of our own of what people met, where no other test of the project has them; and that each kind has two. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, constantFrom, oneof, property, string, stringMatching } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { refuseRemote } from '../../src/log/placement.ts';
import { wireToolName } from '../../src/model/provider/tool-name.ts';
import { SERVER_NAME, toolName } from '../../src/tool/mcp/name.ts';
import { mailTools } from '../../src/tool/mail/tools.ts';
import { clerk, project, sessionIn } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';
import { Bench } from './bench.ts';
import { ABSENT, GIVEN, type GivenCase } from './given.ts';
import { OWN } from './own.ts';

const ROOT = join(import.meta.dirname, '../..');
const INSTANCES_MIN = 2;

describe('instances of our own', () => {
  const kinds = new Set((GIVEN ?? []).map(({ kind }) => kind));

  test.skipIf(!GIVEN)(`every kind has two${GIVEN ? '' : ` (${ABSENT})`}`, () => {
    expect([...kinds].filter((kind) => (OWN[kind]?.length ?? 0) < INSTANCES_MIN)).toEqual([]);
    expect(Object.keys(OWN).filter((kind) => !kinds.has(kind))).toEqual([]);
    const all = new Set(Object.values(OWN).flatMap((list) => list.map((one) => one.join(' '))));
    console.info(`field cases: ${kinds.size} kinds, ${all.size} instances of our own`);
  });

  test.each(Object.entries(OWN))('%s: they are tests of the project', (_, list) => {
    expect(new Set(list.map(([, name]) => name)).size).toBe(list.length);
    // A name that stands in a table of a test is one of its tests.
    const missing = list.filter(([file, name]) => !readFileSync(join(ROOT, file), 'utf8').includes(name));
    expect(missing).toEqual([]);
  });
});

describe('names of tools of other programs', () => {
  const server = stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/);
  const tool = oneof(
    string({ minLength: 1, maxLength: 128, unit: constantFrom('a', 'B', '9', '_', '.', '-') }),
    string({ minLength: 1, maxLength: 128 }),
  );

  test('any two tools of any two servers have two names, also on the wire', () => {
    assert(
      property(server, tool, server, tool, (one, a, other, b) => {
        const [first, second] = [toolName(one, a), toolName(other, b)];
        for (const name of [first, second]) {
          expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/);
          expect(wireToolName(name)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        }
        expect(first.startsWith(`${one}.`)).toBe(true);
        expect(wireToolName(first) === wireToolName(second)).toBe(one === other && a === b);
      }),
    );
  });

  test('names with dots, spaces and letters of other alphabets', () => {
    const names = [
      'list.items',
      'list__items',
      'list_.items',
      'list items',
      'list-items',
      'Liste',
      'список',
      '一覧',
      '.',
    ];
    const wire = names.map((name) => wireToolName(toolName('b', name)));
    expect(new Set(wire).size).toBe(names.length);
    expect(toolName('b', 'list.items')).toBe('b.list.items');
    expect(toolName('b', 'list items')).toMatch(/^b\.list-items-[0-9a-f]{8}$/);
    expect(SERVER_NAME.test('b.c')).toBe(false);
  });
});

test('shared folders of other kinds are refused, local ones are taken', () => {
  const TYPES = { cifs: 0xff534d42, smb2: 0xfe534d42, '9p': 0x01021997, ceph: 0x00c36400 };
  for (const [name, type] of Object.entries(TYPES))
    expect(() => refuseRemote(`/srv/${name}`, () => type)).toThrow(
      expect.objectContaining({
        code: 'store-on-network-folder',
        message: expect.stringContaining(`/srv/${name}`),
      }),
    );
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994])
    expect(() => refuseRemote('/srv/data', () => type)).not.toThrow();
});

test('a line break in a name or in the name of an attachment adds no header', async () => {
  const root = tempFolder();
  const folders = {
    drafts: join(root, 'drafts'),
    inbox: join(root, 'inbox'),
    attachments: join(root, 'files'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  writeFileSync(join(folders.attachments, 'a.txt'), 'x');
  const tools = mailTools({ ...folders, from: { address: 'desk@corp.example' } });
  const mail = { to: ['a@corp.example'], subject: 'Hi', body: 'text' };
  const bad: readonly Readonly<Record<string, unknown>>[] = [
    { ...mail, to: ['a@corp.example\nBcc: b@evil.example'] },
    { ...mail, cc: ['"x\r\nBcc: b@evil.example" <c@corp.example>'] },
    { ...mail, subject: 'Hi\rBcc: b@evil.example' },
    { ...mail, subject: 'Hi\u2028Bcc: b@evil.example' },
    { ...mail, attachments: ['a.txt\r\nBcc: b@evil.example'] },
  ];
  for (const args of bad) {
    const given = { input: { model: [{ calls: [{ id: 'c1', tool: 'mail.draft', args }] }, { text: 'ok' }] } };
    const bench = new Bench(given as unknown as GivenCase, {
      tools,
      policy: { rules: [{ id: 'all', do: 'allow' }] },
    });
    await bench.play();
    for (const name of readdirSync(folders.drafts))
      expect(readFileSync(join(folders.drafts, name), 'utf8')).not.toMatch(/^Bcc:/im);
  }
});

const agent = (more: object): string =>
  stringify({ instructions: 'be brief', model: { scripted: 'script.yaml' }, ...more });

test('a bundle that is cut makes no store', async () => {
  const place = clerk('\n  - { text: ok }\n');
  const session = sessionIn((await place.onrecord('run', 'clerk', 'go', '--key', 'k')).stdout);
  expect((await place.onrecord('export', session, '-o', 'log.jsonl')).code).toBe(0);
  const whole = readFileSync(join(place.folder, 'log.jsonl'), 'utf8');
  const other = project({ 'torn.jsonl': whole.slice(0, -5) });
  expect((await other.onrecord('import', 'torn.jsonl')).code).toBe(7);
  expect(existsSync(join(other.folder, '.onrecord'))).toBe(false);
});

test('a recording does not answer for another tool, nor for another description', async () => {
  const place = project({
    'agents/clerk.yaml': agent({}),
    'script.yaml': stringify({ name: 's', steps: [{ text: 'ok', cost: 0 }] }),
    'books/a.txt': 'a',
  });
  const session = sessionIn((await place.onrecord('run', 'clerk', 'go')).stdout);
  expect((await place.onrecord('suite', 'record', session, '--out', 'scenarios/real.yaml')).code).toBe(0);
  expect((await place.onrecord('suite', 'run')).code).toBe(0);
  for (const more of [{ tools: [{ files: { root: 'books' } }] }, { instructions: 'be Brief' }]) {
    place.write('agents/clerk.yaml', agent(more));
    expect([more, (await place.onrecord('suite', 'run')).code]).not.toEqual([more, 0]);
  }
});
