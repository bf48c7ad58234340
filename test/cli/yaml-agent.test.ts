import { array, assert, asyncProperty, constantFrom } from 'fast-check';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/cli/config.ts';
import { isOnrecordError, type OnrecordError } from '../../src/errors.ts';
import { clerk, project, type Project } from './project.ts';

const SCRIPT = { 'script.yaml': 'name: model-1\nsteps: [{ text: Hello., cost: 0 }]\n', 'books/a.txt': 'a' };

const withAgent = (yaml: string): Project => project({ ...SCRIPT, 'agents/clerk.yaml': yaml });

const refusal = async ({ folder }: Project): Promise<OnrecordError> => {
  try {
    await loadConfig({ folder, file: undefined });
  } catch (error) {
    if (isOnrecordError(error)) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

const BASE = 'instructions: Be exact.\nmodel: { scripted: script.yaml }\n';

test('a-file-is-an-agent: name from the file, tools with options, policy, limits', async () => {
  const place = withAgent(`description: Keeps books.
${BASE}tools:
  - files: { root: books, prefix: books, untrusted: true }
  - csv: { root: books, readOnly: true }
  - calendar: { path: books/cal.db, zone: Europe/Vienna }
  - mail: { inbox: books, drafts: books, from: { address: me@firm.example } }
  - http: { allow: [{ origin: "https://api.example.com" }] }
policy:
  - { id: notes, tools: ["books.*"], when: [{ at: /path, below: [notes] }], do: allow }
limits: { stepsPerTurn: 7 }
`);
  const { agents } = await loadConfig({ folder: place.folder, file: undefined });
  const [agent] = agents;
  expect(agent?.definition.name).toBe('clerk');
  expect(agent?.description).toBe('Keeps books.');
  expect(agent?.definition.model.name).toBe('model-1');
  expect(agent?.definition.limits.stepsPerTurn).toBe(7);
  expect(agent?.definition.policy.rules.map((rule) => rule.id)).toEqual(['notes']);
  const names = agent?.definition.tools.map((tool) => tool.name) ?? [];
  for (const name of ['books.read', 'books.edit', 'csv.read', 'calendar.list', 'mail.draft', 'http.get'])
    expect(names).toContain(name);
  expect(names).not.toContain('csv.update');
  expect(agent?.definition.tools.find((tool) => tool.name === 'books.read')?.labels.untrusted).toBe(true);
});

test('a-mistake-has-its-place: file, line, column, the line itself and what was meant', async () => {
  const cases: readonly (readonly [yaml: string, line: number, column: number, words: string])[] = [
    [`${BASE}limits:\n  stepPerTurn: 3\n`, 4, 3, 'did you mean "stepsPerTurn"?'],
    [`instruction: x\n${BASE}`, 1, 1, 'did you mean "instructions"?'],
    [`${BASE}tools:\n  - files: { root: books, readonly: true }\n`, 4, 27, 'did you mean "readOnly"?'],
    [`${BASE}tools:\n  - file: { root: books }\n`, 4, 5, 'did you mean "files"?'],
    [`${BASE}tools:\n  - files: { root: gone }\n`, 4, 5, 'gone'],
    [`${BASE}tools:\n  - { files: { root: books }, csv: { root: books } }\n`, 4, 5, 'one set'],
    [`${BASE}policy: [{ id: a, do: alow }]\n`, 3, 23, 'policy.0.do'],
    [
      `${BASE}policy: [{ id: a, do: allow, when: [{ at: /x, equals: 1, atMost: 2 }] }]\n`,
      3,
      37,
      'one of equals',
    ],
    [`instructions: x\nmodel: { scripted: none.yaml }\n`, 2, 20, 'none.yaml'],
    [`${BASE}name: Clerk Kent\n`, 3, 7, 'a-z, 0-9'],
    [`${BASE}name: &a clerk\n`, 3, 10, 'anchor'],
    [`${BASE}description: &a x\ninstructions: *a\n`, 4, 1, 'unique'],
    [`${BASE}description: !!str x\n`, 3, 20, 'tag'],
    [`${BASE}description: !evil x\n`, 3, 14, 'tag'],
    [`${BASE}<<: { name: x }\n`, 3, 1, 'unknown key'],
    [`${BASE}  bad\n indent: 1\n`, 3, 1, 'same column'],
  ];
  for (const [yaml, line, column, words] of cases) {
    const error = await refusal(withAgent(yaml));
    expect({ yaml, code: error.code }).toEqual({ yaml, code: 'agent-file-invalid' });
    expect({ yaml, message: error.message }).toEqual({
      yaml,
      message: expect.stringContaining(words) as string,
    });
    expect({ yaml, ...error.details }).toMatchObject({ yaml, where: 'agents/clerk.yaml', line, column });
    expect(error.message).toContain(`agents/clerk.yaml:${line}:${column}: `);
  }
});

test('a-policy-says-who-and-until-when: rules alone, or rules and how people are asked', async () => {
  const place = withAgent(`${BASE}policy:
  rules:
    - { id: mail, egress: true, seen: [untrusted, private], do: ask,
        ask: { by: [ada, "role:finance"], fourEyes: true, expires: 2h, escalate: { after: 30m, to: ["role:cfo"] } } }
    - { id: notes, tools: ["notes.*"], when: [{ at: "", only: [text] }], do: allow }
  ask: { expires: 7d }
`);
  const { agents } = await loadConfig({ folder: place.folder, file: undefined });
  expect(agents[0]?.definition.policy).toEqual({
    rules: [
      {
        id: 'mail',
        egress: true,
        seen: ['untrusted', 'private'],
        do: 'ask',
        ask: {
          by: ['ada', 'role:finance'],
          fourEyes: true,
          expiresMs: 7_200_000,
          escalate: { afterMs: 1_800_000, to: ['role:cfo'] },
        },
      },
      { id: 'notes', tools: ['notes.*'], when: [{ at: '', only: ['text'] }], do: 'allow' },
    ],
    ask: { expiresMs: 7 * 24 * 3_600_000 },
  });
  const shown = await place.on({ columns: 100 }, 'agents', 'clerk');
  expect(shown.stdout).toContain(
    'ada or anyone with the role finance may decide, four eyes, goes to anyone with the role cfo as',
  );
  expect(shown.stdout).toContain('untrusted and private text stood in the request');
  expect(shown.stdout).toContain('However asked: lapses after 7 d');
  const unknown = await place.onrecord('agents', 'nobody');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Known here: clerk.')]);
});

test('a-mistake-in-a-policy-has-its-place', async () => {
  const cases: readonly (readonly [yaml: string, place: string, words: string])[] = [
    ['policy: [{ id: a, do: ask, ask: { expires: soon } }]', 'soon', '90s, 15m, 2h or 7d'],
    ['policy: [{ id: a, do: ask, ask: { expires: 7200 } }]', '7200', '90s, 15m, 2h or 7d'],
    ['policy: [{ id: a, do: ask, ask: { expiresMs: 1 } }]', 'expiresMs', 'did you mean "expires"?'],
    ['policy: [{ id: a, do: ask, ask: { fourEye: true } }]', 'fourEye', 'did you mean "fourEyes"?'],
    ['policy: [{ id: a, do: ask, ask: { by: [] } }]', '[]', 'policy.0.ask.by'],
    ['policy: [{ id: a, do: ask, seen: [secret] }]', 'secret', 'policy.0.seen.0'],
    ['policy: [{ id: a, do: ask, egress: maybe }]', 'maybe', 'policy.0.egress'],
    ['policy: { rules: [], asks: { by: [ada] } }', 'asks', 'did you mean "ask"?'],
    ['policy: { ask: { by: [ada] } }', '{', 'policy.rules'],
    ['policy: allow', 'allow', 'must be a list of rules, or { rules, ask }'],
    ['policy: [{ id: a, do: allow, ask: { by: [ada] } }]', '[', 'has terms for a question'],
    [
      'policy: [{ id: a, do: ask, ask: { expires: 1h, escalate: { after: 2h, to: [b] } } }]',
      '[',
      'escalates after',
    ],
  ];
  for (const [yaml, place, words] of cases) {
    const error = await refusal(withAgent(`${BASE}${yaml}\n`));
    expect({ yaml, code: error.code, message: error.message }).toEqual({
      yaml,
      code: 'agent-file-invalid',
      message: expect.stringContaining(words) as string,
    });
    const column = yaml.indexOf(place) + 1;
    expect({ yaml, ...error.details }).toMatchObject({ yaml, line: 3, column });
  }
});

test('files-are-bounded: 1 MiB, UTF-8, one document, no aliases', async () => {
  expect((await refusal(withAgent(`${BASE}# ${'x'.repeat(1024 * 1024)}\n`))).message).toContain('1048576');
  expect((await refusal(withAgent(`${BASE}---\n${BASE}`))).code).toBe('agent-file-invalid');
  const bomb = `a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n${BASE}`;
  expect((await refusal(withAgent(bomb))).message).toContain('anchor');
  const binary = withAgent(BASE);
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(binary.folder, 'agents/clerk.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
  expect((await refusal(binary)).message).toContain('not UTF-8');
});

test('names-are-unique: two files of one name are refused, other files are left alone', async () => {
  const place = withAgent(BASE);
  place.write('agents/other.yml', `name: clerk\n${BASE}`);
  expect((await refusal(place)).code).toBe('agent-invalid');
  const calm = withAgent(BASE);
  calm.write('agents/README.md', 'not an agent');
  calm.write('agents/.hidden.yaml', 'not: an agent');
  mkdirSync(join(calm.folder, 'agents/folder.d'));
  expect((await loadConfig({ folder: calm.folder, file: undefined })).agents).toHaveLength(1);
});

test('no-tool-touches-the-record: store, agents and configuration are protected by identity', async () => {
  const place = clerk(`
  - text: Let me see.
    cost: 0
    calls:
      - { tool: all.read, args: { path: .onrecord/log.db } }
      - { tool: all.read, args: { path: agents/clerk.yaml } }
      - { tool: all.read, args: { path: books/ledger.txt } }
  - text: Done.
    cost: 0
`);
  place.write('agents/clerk.yaml', `${BASE}tools:\n  - files: { root: ., prefix: all }\n`);
  const { stdout } = await place.onrecord('run', 'clerk', 'x');
  expect(stdout.match(/✗ all\.read .*\(protected-path\)/g)).toHaveLength(2);
  expect(stdout).toMatch(/✓ all\.read +path books\/ledger\.txt/);
});

test('any-text-is-an-agent-or-a-clear-error: never a crash, never a partial agent', async () => {
  const piece = constantFrom(
    'name: a\n',
    'instructions: x\n',
    'model: { scripted: script.yaml }\n',
    'tools:\n',
    '  - files: { root: books }\n',
    '  - csv: 1\n',
    'policy: []\n',
    'limits: {}\n',
    'limits: { turnMs: -1 }\n',
    '? [a]\n: b\n',
    '- x\n',
    '__proto__: { a: 1 }\n',
    'constructor: 1\n',
    '"\\ud800": 1\n',
    '{',
    '\t',
    '*a',
    '!!js/function x',
    '\u0000',
  );
  const place = withAgent('');
  await assert(
    asyncProperty(array(piece, { maxLength: 8 }), async (pieces) => {
      place.write('agents/clerk.yaml', pieces.join(''));
      const read = await loadConfig({ folder: place.folder, file: undefined }).catch(
        (error: unknown) => error,
      );
      if (!isOnrecordError(read) && read instanceof Error) throw read;
      const clear = isOnrecordError(read) && ['agent-file-invalid', 'agent-invalid'].includes(read.code);
      expect(clear || instructionsOf(read) === 'x').toBe(true);
    }),
    { numRuns: 150 },
  );
});

const instructionsOf = (config: unknown): string | undefined =>
  (config as Awaited<ReturnType<typeof loadConfig>>).agents[0]?.definition.instructions;
