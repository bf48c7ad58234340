/** Every note: the experiment runs, its page is what the run wrote, and the bundles prove themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Bench } from '../../notes/kit/bench.ts';
import { keptBundles, runNote } from '../../notes/kit/note.ts';
import { NOTES } from '../../notes/notes.ts';
import { project, ROOT } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';

const NOTE_MS = 600_000;
const FOLDER = join(ROOT, 'notes');

const bench = new Bench();
afterEach(() => bench.clear());
afterAll(() => bench.close());

describe('npm run notes', () => {
  test.each(NOTES.map((note) => [note.number, note] as const))(
    'note %i: what it says was shown again, and its page is what the run wrote',
    async (_, note) => {
      const { findings, stale } = await runNote(note, bench, { evidence: tempFolder() });
      for (const { state, what, by } of findings.claims)
        if (state === 'absent') process.stderr.write(`NOT SHOWN: note ${note.number}, ${what}. ${by}\n`);
      expect(stale).toEqual([]);
    },
    NOTE_MS,
  );
});

describe('the pages', () => {
  test.each(NOTES.map((note) => [note.number, note.name] as const))(
    'page %i ends with what is open and the command that repeats it',
    (number, name) => {
      const page = readFileSync(join(FOLDER, name, 'README.md'), 'utf8');
      const open = page.split('\n## Open\n')[1] ?? '';
      expect(open.match(/^- /gm)?.length).toBeGreaterThan(1);
      expect(page.trimEnd().split('\n').at(-1)).toBe(`Repeat it: \`npm run notes -- ${number}\``);
      expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`](${name}/README.md)`);
    },
  );

  test('the bundles beside them prove themselves', async () => {
    const place = project({});
    const bundles = keptBundles();
    expect(bundles.length).toBeGreaterThanOrEqual(NOTES.length);
    for (const bundle of bundles) {
      const { code, stderr } = await place.onrecord('verify', bundle);
      expect({ bundle: relative(ROOT, bundle), code, stderr }).toMatchObject({ code: 0 });
    }
  });
});

/** What a user of the product can import, and the server of the test kit. */
const DOORS = ['index', 'client', 'testing', 'tools'].map((name) => join(ROOT, `src/${name}.ts`));
const POSTGRES = join(ROOT, 'test/kit/postgres-server.ts');

test('experiments go through public doors only', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const imports = files.flatMap((file) =>
    [...readFileSync(join(FOLDER, file), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => ({
      file,
      target: resolve(dirname(join(FOLDER, file)), path),
    })),
  );
  expect(imports.length).toBeGreaterThan(40);
  const inside = imports.filter(
    ({ target }) => !target.startsWith(`${FOLDER}/`) && !DOORS.includes(target) && target !== POSTGRES,
  );
  expect(inside).toEqual([]);
});
