/** docs/http.md: its commands run against a server in the project that its file makes, and its tables are whole. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DOOR_LIMITS_DEFAULT } from '../../src/server/limits.ts';
import { PROBLEMS } from '../../src/server/problem.ts';
import { DOOR_ROLES } from '../../src/server/tokens.ts';
import { project, ROOT } from '../cli/project.ts';
import { House } from './house.ts';

const PAGE = readFileSync(join(ROOT, 'docs/http.md'), 'utf8');

const FILES = Object.fromEntries(
  [...PAGE.matchAll(/^`([\w./-]+)`\n\n```\w+\n([^]*?)^```$/gm)].map(([, path = '', text = '']) => [
    path,
    text.replace("'onrecord'", JSON.stringify(join(ROOT, 'src/index.ts'))),
  ]),
);

type Step = { readonly command: string; readonly printed: readonly string[] };

const STEPS: readonly Step[] = [...PAGE.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...printed] = part.trimEnd().split('\n');
      return { command, printed };
    }),
);

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) process.stderr.write('docs/http.md was not run: there is no curl on this machine.\n');

describe('docs/http.md', () => {
  test.runIf(hasCurl)(
    'prints what its commands print, against a server over its file',
    async () => {
      expect(Object.keys(FILES)).toEqual(['onrecord.config.ts']);
      expect(STEPS.length).toBeGreaterThan(12);
      const place = project(FILES);
      const running = place.start('serve', '--port', '0');
      const host = await running.said(/(?<=Serving on http:\/\/)127\.0\.0\.1:\d+(?=\s)/);
      await running.said('/docs');
      const names: Record<string, string> = { '127.0.0.1:4280': host };
      const filled = (text: string): string =>
        Object.entries(names).reduce((filledIn, [name, value]) => filledIn.replaceAll(name, value), text);
      for (const { command, printed } of STEPS) {
        const ran = spawnSync('bash', ['-c', filled(command)], { cwd: place.folder, encoding: 'utf8' });
        const session = /"session":"(s_\w+)"/.exec(ran.stdout)?.[1];
        if (session !== undefined) names['s_SESSION'] ??= session;
        if (command.endsWith('/approvals')) {
          const { items } = JSON.parse(ran.stdout) as { readonly items: readonly { digest: string }[] };
          names['DIGEST'] = items[0]?.digest ?? '';
        }
        for (const line of printed)
          expect({ command, said: ran.stdout + ran.stderr }).toEqual({
            command,
            said: expect.stringContaining(filled(line)) as string,
          });
      }
      running.kill('SIGTERM');
      expect((await running.done).code).toBe(0);
    },
    240_000,
  );

  test('names every problem, limit, role and route', async () => {
    for (const [code, { status, title }] of Object.entries(PROBLEMS))
      expect(PAGE).toContain(`| ${status} | \`${code}\` | ${title} |`);
    for (const [name, value] of Object.entries(DOOR_LIMITS_DEFAULT))
      expect(PAGE).toContain(`| \`${name}\` | ${value.toLocaleString('en-US')} |`);
    for (const role of DOOR_ROLES) expect(PAGE).toContain(`| \`${role}\` |`);
    const house = await House.open();
    for (const route of house.app.routes)
      expect(PAGE).toContain(`\`${route.replaceAll(/:(\w+)/g, '{$1}')}\``);
  });
});
