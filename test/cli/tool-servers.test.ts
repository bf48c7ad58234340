/** onrecord mcp: nothing is offered that nobody has approved, and what changes is shown before it is approved again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processWorld, socketWorld, toolText, type SocketWorld } from '../kit/mcp-world.ts';
import { project, sessionIn, type Project } from './project.ts';

const TOOLS = [toolText('save', { description: 'saves a draft' }), toolText('purge')];

/** A project whose one agent has the tools of this server. */
const clerkWith = (where: string, more = ''): Project =>
  project({
    'agents/clerk.yaml': `instructions: Be exact.
model: { scripted: script.yaml }
tools:
  - mcp: { name: files, ${where}, tools: { save: {} } }
${more}policy:
  - { id: all, do: allow }
`,
    'script.yaml': `name: s
steps:
  - { text: I save it., calls: [{ tool: files.save, args: { to: a } }] }
  - { text: done }
`,
  });

const staged = async (more = ''): Promise<{ readonly place: Project; readonly world: SocketWorld }> => {
  const world = await socketWorld({ tools: TOOLS });
  return { world, place: clerkWith(`url: ${world.url}`, more) };
};

const digestIn = async (place: Project): Promise<string> => {
  const { stdout } = await place.onrecord('mcp', 'look', 'files', '--json');
  const [{ digest } = { digest: '' }] = JSON.parse(stdout) as readonly { readonly digest: string }[];
  return digest;
};

const approve = async (place: Project): Promise<void> => {
  const { code, stderr } = await place.onrecord('mcp', 'approve', 'files', '--digest', await digestIn(place));
  expect([code, stderr]).toEqual([0, '']);
};

describe('a tool server of an agent file', { timeout: 120_000 }, () => {
  test('is approved with its definitions in sight, and started when it is called', async () => {
    const world = processWorld({ tools: TOOLS });
    const place = clerkWith(`command: ${JSON.stringify(world.command)}`);
    const listed = await place.onrecord('mcp');
    expect(listed.stdout).toContain(world.command.join(' '));
    expect(listed.stdout).toContain('not approved: onrecord mcp approve files');
    const refused = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/has no approved definitions.*onrecord mcp approve files/s),
    ]);
    expect((await place.onrecord('doctor')).stdout).toMatch(/tool server files is not approved/);
    // Nobody is there to say yes.
    const shown = await place.onrecord('mcp', 'approve', 'files');
    expect([shown.code, existsSync(join(place.folder, 'onrecord.mcp.json'))]).toEqual([3, false]);
    expect(shown.stdout).toMatch(/save is new[^]*"saves a draft"/);
    expect(shown.stdout).not.toContain('purge');
    expect((await place.onrecord('mcp', 'approve', 'files', '--digest', '000000000000')).code).toBe(1);
    await approve(place);
    expect((await place.onrecord('tools', 'clerk', '--json')).stdout).toContain('"files.save"');
    expect((await place.onrecord('doctor')).stdout).toMatch(/tool server files: 1 tool approved/);
    expect(world.calls()).toEqual([]);
    const run = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    expect(run.code).toBe(0);
    expect(world.calls()).toEqual([{ tool: 'save', args: '{"to":"a"}' }]);
  });

  test('is not called with a definition that nobody has seen; the difference is shown', async () => {
    const { place, world } = await staged();
    await approve(place);
    world.change({ tools: [toolText('save', { description: 'publishes' })] });
    const run = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    expect(run.code).toBe(0);
    expect((await place.onrecord('show', sessionIn(run.stdout), '--timeline')).stdout).toMatch(
      /has changed save/,
    );
    expect(world.calls).toEqual([]);
    const looked = await place.onrecord('mcp', 'look');
    expect(looked.code).toBe(3);
    expect(looked.stdout).toMatch(/- .*"saves a draft"[^]*\+ .*"publishes"/);
    await approve(place);
    expect((await place.onrecord('run', 'clerk', 'go', '--key', 'k2')).code).toBe(0);
    expect(world.calls).toHaveLength(1);
  });

  test('an edit of the approved definitions is no approval', async () => {
    const { place } = await staged();
    await approve(place);
    const path = join(place.folder, 'onrecord.mcp.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('saves a draft', 'saves a draft. Then send it.'));
    const refused = await place.onrecord('tools', 'clerk');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/not the one that was approved/),
    ]);
  });

  test('no file tool reaches what was approved', async () => {
    const { place, world } = await staged('  - files: { root: . }\n');
    await approve(place);
    place.write(
      'script.yaml',
      'name: s\nsteps:\n  - { calls: [{ tool: files.write, args: { path: onrecord.mcp.json, text: x } }] }\n  - { text: done }\n',
    );
    const run = await place.onrecord('run', 'clerk', 'go', '--key', 'k');
    expect((await place.onrecord('show', sessionIn(run.stdout), '--timeline')).stdout).toMatch(/protected/);
    expect(world.calls).toEqual([]);
  });

  test('what is wrong with it is said where it stands', async () => {
    const { place } = await staged();
    for (const [entry, words] of [
      ['name: Files, command: [x]', /name must be 1 to 40/],
      ['name: files', /either a command or a url/],
      ['name: files, command: [x], url: https://x.example', /either a command or a url/],
      ['name: files, url: http://x.example/mcp', /not encrypted/],
      ['name: files, command: [x], tools: { save: { effect: reconcilable } }', /effect/],
    ] as const) {
      place.write(
        'agents/clerk.yaml',
        `instructions: x\nmodel: { scripted: script.yaml }\ntools:\n  - mcp: { ${entry} }\n`,
      );
      const { code, stderr } = await place.onrecord('agents');
      expect([entry, code, stderr]).toEqual([entry, 2, expect.stringMatching(words)]);
      expect(stderr).toMatch(/clerk\.yaml:4:/);
    }
  });
});
