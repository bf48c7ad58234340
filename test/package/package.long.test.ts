/** The package itself: what strangers' tools say of it, its types under three compilers, and both Nodes it supports. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../cli/project.ts';
import { empty, installed, packed, shell } from './packed.ts';

let tarball: string;
beforeAll(() => {
  tarball = packed();
}, 600_000);

/** Every entry point, as a program in strict mode sees it; libraries are checked, too. */
const PROGRAM = `
import { defineAgent, MemoryLog, openRuntime, scriptedModel, tool } from 'onrecord';
import { OnrecordClient } from 'onrecord/client';
import { PostgresLog } from 'onrecord/postgres';
import { createApp } from 'onrecord/server';
import { assertPassed, examine, memoryRuntime } from 'onrecord/testing';
import * as tools from 'onrecord/tools';

const agent = defineAgent({
  name: 'clerk',
  instructions: 'Be exact.',
  model: scriptedModel({ name: 'script', steps: [{ text: 'Done.' }] }),
  tools: [tool({ name: 'clock.read', description: 'x', inputSchema: { type: 'object' }, effect: 'none', execute: () => 'noon' })],
});
const runtime = await openRuntime({ store: new MemoryLog(), agents: [agent] });
const { session } = await runtime.send({ agent: 'clerk', message: 'Go.' });
const rest = await runtime.rest(session);
await runtime.close();
const used: readonly unknown[] = [OnrecordClient, PostgresLog, createApp, assertPassed, examine, memoryRuntime, tools];
console.log(rest.status, used.every((one) => one !== undefined));
`;

const COMPILER = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  },
  include: ['program.ts'],
};

const program = (folder: string): void => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
};

describe('the package', () => {
  it.each(['5.9.3', '6.0.3', '7.0.2'])('has types that compile under TypeScript %s', (version) => {
    const folder = empty(`typescript-${version}`);
    program(folder);
    installed(folder, tarball, `typescript@${version}`, '@types/node@24');
    expect(shell(folder, 'tsc')).toEqual({ code: 0, out: '', errors: '' });
  });

  it.each(['24', '26'])('works under Node %s, without a native build', (major) => {
    const folder = empty(`node-${major}`);
    program(folder);
    installed(folder, tarball, `node@${major}`);
    const node = join(folder, 'node_modules/.bin/node');
    expect(shell(folder, node, '--version').out).toMatch(new RegExp(`^v${major}\\.`));
    expect(shell(folder, node, 'program.ts')).toEqual({ code: 0, out: 'done true\n', errors: '' });
    const bin = join(folder, 'node_modules/onrecord/bin/onrecord.js');
    expect(shell(folder, node, bin, '--version').out).toMatch(/^onrecord \d+\.\d+\.\d+\n$/);
    const native = spawnSync('find', [join(folder, 'node_modules'), '-name', '*.node'], { encoding: 'utf8' });
    expect(native.stdout).toBe('');
  });

  it('says what an older Node lacks, before it fails', () => {
    const folder = empty('node-20');
    installed(folder, tarball, 'node@20');
    const node = join(folder, 'node_modules/.bin/node');
    const said = shell(folder, node, join(folder, 'node_modules/onrecord/bin/onrecord.js'), 'help');
    expect([said.code, said.out]).toEqual([2, '']);
    expect(said.errors).toMatch(
      /^✗ Onrecord needs Node 24 or later; this is Node 20\.[\d.]+\. .* node-too-old\n/,
    );
  });

  it.each([
    ['publint', ['--strict']],
    ['attw', ['--profile', 'esm-only']],
  ])('has nothing that %s finds wrong', (checker, options) => {
    const said = shell(ROOT, join(ROOT, 'node_modules/.bin', checker), tarball, ...options);
    expect(said).toMatchObject({ code: 0 });
  });
});
