/**
 * What a stranger can do wrong in the first hour, caused on purpose. Each message was read when it was kept here: what
 * happened, what was expected, what to do next. A wrong Node is in test/package, a missing runsc in
 * test/room, a locked store in test/crash.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { project, ROOT, type Project } from './project.ts';

const SCRIPT = { 'script.yaml': 'name: model-1\nsteps: [{ text: Hello. }]\n' };
const AGENT = 'instructions: Be brief.\nmodel: { scripted: script.yaml }\n';
const withAgent = (yaml: string = AGENT): Project => project({ ...SCRIPT, 'agents/clerk.yaml': yaml });
const withConfig = (text: string): Project => project({ 'onrecord.config.ts': text });

type Refused = { readonly code: number; readonly said: string };

/** The folder is another one each time. */
const refused = async (place: Project, ...words: readonly string[]): Promise<Refused> => {
  const { code, stdout, stderr } = await place.onrecord(...words);
  expect(stdout).toBe('');
  return { code, said: stderr.replaceAll(place.folder, '/project').trimEnd() };
};

/** Nothing is left behind by a mistake. */
const untouched = (place: Project): void => expect(existsSync(join(place.folder, '.onrecord'))).toBe(false);

describe('a folder without a project', () => {
  it.each([
    [['run', 'clerk', 'Hello.']],
    [['sessions']],
    [['show', 's_7Q2M4K1B']],
    [['approvals']],
    [['replay', '--all']],
    [['serve', '--port', 'http']],
    [['suite', 'run']],
  ])('%j', async (words) => {
    const place = project({});
    const { said } = await refused(place, ...words);
    expect(said).toMatchSnapshot();
    untouched(place);
  });
});

describe('a command line', () => {
  it.each([
    [['sesions']],
    [['--sessions']],
    [['constructor']],
    [['run']],
    [['run', 'clerk', 'two', 'words']],
    [['sessions', 'clerk']],
    [['run', '--mod', 'normal', 'clerk', 'Hello.']],
    [['run', 'clerk', 'Hello.', '--jsno']],
    [['cost', '--by']],
    [['run', 'clrek', 'Hello.']],
    [['show', 's_7Q2M4K1B', '--request', 'last']],
    [['help', 'rum']],
    [['docs', 'tols']],
  ])('%j', async (words) => {
    const place = withAgent();
    const { code, said } = await refused(place, ...words);
    expect(said).toMatchSnapshot();
    expect(code).toBeGreaterThan(0);
    untouched(place);
  });
});

describe('a file', () => {
  it.each([
    ['a bracket is missing', 'instructions: Be brief.\nmodel: { scripted: script.yaml\n'],
    ['a key is misspelt', 'instructons: Be brief.\nmodel: { scripted: script.yaml }\n'],
    ['a key of a choice is unknown', 'instructions: x\nmodel: { scripted: script.yaml, size: 3 }\n'],
    ['a set of tools is unknown', `${AGENT}tools:\n  - shell: { root: . }\n`],
    ['a set of tools is misspelt', `${AGENT}tools:\n  - fils: { root: . }\n`],
    ['a set of tools has no settings', `${AGENT}tools: [files]\n`],
    ['a script is not there', 'instructions: x\nmodel: { scripted: scirpt.yaml }\n'],
    ['a provider is unknown', 'instructions: x\nmodel: antropic/claude-opus-5\n'],
  ])('%s', async (_, yaml) => {
    const place = withAgent(yaml);
    const { code, said } = await refused(place, 'run', 'clerk', 'Hello.');
    expect(said).toMatchSnapshot();
    expect(code).toBe(2);
    untouched(place);
  });

  it.each([
    ['no default export', 'export const agents = [];'],
    ['a member is misspelt', 'export default { agents: [], stroe: "log.db" };'],
    ['a module is missing', 'import "./tools.ts";\nexport default { agents: [] };'],
    ['a package is missing', 'import "zodd";\nexport default { agents: [] };'],
    [
      'a tool stands where an agent has to',
      `import { tool } from '${ROOT}/src/index.ts';
export default { agents: [tool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute: () => 1 })] };`,
    ],
    [
      'a schema is no schema',
      `import { defineAgent, tool } from '${ROOT}/src/index.ts';
const pay = tool({ name: 'pay', description: 'Pays.', inputSchema: { to: 'string' }, execute: () => 1 });
export default { agents: [defineAgent({ name: 'clerk', instructions: 'x', model: 'anthropic/claude-opus-5', tools: [pay] })] };`,
    ],
    [
      'a JSON Schema is wrong',
      `import { defineAgent, tool } from '${ROOT}/src/index.ts';
const pay = tool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'objekt' }, execute: () => 1 });
export default { agents: [defineAgent({ name: 'clerk', instructions: 'x', model: 'anthropic/claude-opus-5', tools: [pay] })] };`,
    ],
    [
      'a tool has no function',
      `import { defineAgent, tool } from '${ROOT}/src/index.ts';
const pay = tool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } });
export default { agents: [defineAgent({ name: 'clerk', instructions: 'x', model: 'anthropic/claude-opus-5', tools: [pay] })] };`,
    ],
  ])('onrecord.config.ts: %s', async (_, text) => {
    const place = withConfig(text);
    const { said } = await refused(place, 'run', 'clerk', 'Hello.');
    expect(said).toMatchSnapshot();
    untouched(place);
  });

  it('doctor quotes it as the others do', async () => {
    const { stdout } = await withAgent('instructons: x\n').on(
      { columns: 80, env: { NO_COLOR: '1' } },
      'doctor',
    );
    expect(stdout.slice(stdout.indexOf('✗'))).toMatchSnapshot();
  });
});

const storeWith = (sql: string): Project => {
  const place = withAgent();
  mkdirSync(join(place.folder, '.onrecord'));
  const database = new DatabaseSync(join(place.folder, '.onrecord/log.db'));
  database.exec(sql);
  database.close();
  return place;
};

describe('the world', () => {
  beforeEach(() => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined);
    vi.stubEnv('ONRECORD_CREDENTIALS', undefined);
    vi.stubEnv('HOME', '/nowhere');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('there is no key: the turn fails, says which, and the session is whole', async () => {
    const place = withAgent('instructions: Be brief.\nmodel: anthropic/claude-opus-5\n');
    const { code, stdout } = await place.on(
      { columns: 80, env: { NO_COLOR: '1' } },
      'run',
      'clerk',
      'Hello.',
    );
    expect(code).toBe(1);
    expect(stdout.slice(stdout.indexOf('✗ Turn 1'))).toMatchSnapshot();
  });

  it('the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      for (const command of ['serve', 'docs']) {
        const { code, said } = await refused(withAgent(), command, '--port', String(port));
        expect(code).toBe(1);
        expect(said.replaceAll(String(port), '4280')).toMatchSnapshot(command);
      }
    } finally {
      taken.close();
      await once(taken, 'close');
    }
  });

  it('the store is of a newer version', async () => {
    const place = withAgent();
    await place.onrecord('run', 'clerk', 'Hello.');
    const database = new DatabaseSync(join(place.folder, '.onrecord/log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    const { code, said } = await refused(place, 'sessions');
    expect(code).toBe(6);
    expect(said).toMatchSnapshot();
  });

  it('the store is a database of another program', async () => {
    const { code, said } = await refused(storeWith('CREATE TABLE customers (name)'), 'sessions');
    expect(code).toBe(9);
    expect(said).toMatchSnapshot();
  });

  it('the store is no database', async () => {
    const place = withAgent();
    place.write('.onrecord/log.db', 'This is a text.');
    const { code, said } = await refused(place, 'sessions');
    expect(code).toBeGreaterThan(0);
    expect(said).toMatchSnapshot();
  });

  it('the database cannot be reached', async () => {
    const url = 'postgres://onrecord:secret@127.0.0.1:1/onrecord';
    const { code, said } = await refused(withAgent(), 'sessions', '--store', url);
    expect(code).toBe(9);
    expect(said).not.toContain('secret');
    expect(said).toMatchSnapshot();
  });
});
