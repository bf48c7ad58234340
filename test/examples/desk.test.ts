/** Desks are made whole or not at all, and the example's own sites serve what is theirs and nothing else. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { setUpDesk } from '../../examples/desk.ts';
import { siteOf } from '../../examples/site.ts';
import { tempFolder } from '../kit/folder.ts';

const dataIn = (folder: string): string => {
  const data = join(folder, 'data');
  mkdirSync(join(data, 'notes'), { recursive: true });
  writeFileSync(join(data, 'notes', 'a.md'), 'from the data\n');
  return data;
};

const spoil = (): never => {
  throw new Error('no calendar');
};

test('a desk that is there stays as it is', () => {
  const folder = tempFolder();
  const options = { desk: join(folder, 'desks', 'one'), data: dataIn(folder) };
  setUpDesk(options);
  writeFileSync(join(options.desk, 'notes', 'a.md'), 'changed\n');
  setUpDesk(options);
  expect(readFileSync(join(options.desk, 'notes', 'a.md'), 'utf8')).toBe('changed\n');
  expect(readFileSync(join(options.data, 'notes', 'a.md'), 'utf8')).toBe('from the data\n');
  expect(readdirSync(join(folder, 'desks'))).toEqual(['one']);
});

test('a desk that could not be furnished is none, and the next try makes it', () => {
  const folder = tempFolder();
  const options = { desk: join(folder, 'desks', 'one'), data: dataIn(folder) };
  expect(() => setUpDesk({ ...options, furnish: spoil })).toThrow('no calendar');
  expect(readdirSync(join(folder, 'desks'))).toEqual([]);
  setUpDesk(options);
  expect(readdirSync(options.desk)).toEqual(['notes']);
});

test('several processes that are first at once get one whole desk', { timeout: 120_000 }, async () => {
  const folder = tempFolder();
  const agents = pathToFileURL(join(import.meta.dirname, '../../examples/agents.ts')).href;
  const desks = join(folder, 'desks');
  const code = `const { exampleAgents } = await import(${JSON.stringify(agents)});
    console.log(exampleAgents(${JSON.stringify(desks)}).length);`;
  const run = promisify(execFile);
  const first = Array.from({ length: 4 }, () =>
    run(process.execPath, ['--input-type=module', '--eval', code]).then(({ stdout }) => stdout.trim()),
  );
  expect(await Promise.all(first)).toEqual(['3', '3', '3', '3']);
  expect(readdirSync(desks).toSorted()).toEqual([
    'bookkeeping-clerk',
    'inbox-assistant',
    'research-assistant',
  ]);
  expect(readdirSync(join(desks, 'inbox-assistant'))).toContain('calendar.db');
});

test('a site serves its own pages, by host, and nothing beside them', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'sites', 'one.example', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'sites', 'two.example'));
  writeFileSync(join(folder, 'sites', 'one.example', 'deep', 'page.html'), '<p>one</p>');
  writeFileSync(join(folder, 'sites', 'two.example', 'page.txt'), 'two');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  const { allow, resolve, dial } = siteOf(join(folder, 'sites'));
  expect(allow.map(({ origin }) => origin)).toEqual(['http://one.example', 'http://two.example']);
  expect(await resolve('three.example')).toEqual([]);
  const [address = ''] = await resolve('one.example');
  const get = async (host: string, path: string): Promise<string> => {
    const socket = dial({ address, port: 80 });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const piece of socket.setEncoding('utf8')) answer += String(piece);
    return answer;
  };
  expect(await get('one.example', '/deep/page?x=1')).toMatch(/^HTTP\/1\.1 200 [\s\S]*<p>one<\/p>/);
  expect(await get('two.example', '/page')).toMatch(/^HTTP\/1\.1 200 [\s\S]*two/);
  const refused = [
    ['two.example', '/deep/page'],
    ['three.example', '/page'],
    ['..', '/secret'],
    ['one.example', '/../../secret'],
    ['one.example', '/deep/../../../secret'],
    ['one.example', '/deep'],
    ['one.example', '/deep/page.html'],
  ] as const;
  const answers = await Promise.all(refused.map(([host, path]) => get(host, path)));
  expect(answers.map((answer) => answer.slice(0, 12))).toEqual(refused.map(() => 'HTTP/1.1 404'));
});
