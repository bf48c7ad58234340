/**
 * The numbered examples: their READMEs hold the commands and what these print. `npm run examples` runs them and says
 * where they print something else; `npm run examples -- --write` writes down what they print.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { noPostgres, PostgresServer } from '../test/kit/postgres-server.ts';

const ROOT = resolve(import.meta.dirname, '..');
const EXAMPLES = join(ROOT, 'examples');
const COMMAND_MS = 300_000;

export const numberedExamples = (): readonly string[] =>
  readdirSync(EXAMPLES)
    .filter((name) => /^\d\d-/.test(name))
    .toSorted();

type Step = { readonly command: string; readonly printed: string };

const BLOCK = /^```console\n([^]*?)^```$/m;

const stepsOf = (page: string): readonly Step[] =>
  (BLOCK.exec(page)?.[1] ?? '')
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), printed: part.slice(end + 1).trimEnd() };
    });

/** Sessions and digests are other ones in each run: they are known by the order in which they appear. */
const KINDS = {
  session: /\bs_[0-9A-Z]{8}\b/g,
  digest: /(?<=Decides on |--digest )[0-9a-f]{8,64}\b/g,
} as const;
type Names = { readonly session: string[]; readonly digest: string[] };
const none = (): Names => ({ session: [], digest: [] });

/** Two texts of one digest begin alike. */
const placeOf = (names: readonly string[], name: string): number =>
  names.findIndex((known) => known.slice(0, 8) === name.slice(0, 8));

const gather = (text: string, names: Names): void => {
  for (const kind of ['session', 'digest'] as const)
    for (const [name] of text.matchAll(KINDS[kind]))
      if (placeOf(names[kind], name) < 0) names[kind].push(name);
};

const renamed = (text: string, to: (kind: keyof Names, name: string) => string): string =>
  (['session', 'digest'] as const).reduce(
    (left, kind) => left.replaceAll(KINDS[kind], (name) => to(kind, name)),
    text,
  );

/** What differs from run to run, and is not what an example shows. */
export const steady = (text: string): string => {
  const names = none();
  gather(text, names);
  return (
    renamed(text, (kind, name) => `${kind.toUpperCase()}${placeOf(names[kind], name)}`)
      .replaceAll(/\b[0-9a-f]{8}(?:[0-9a-f]{56})?\b|\b[0-9a-f]{4}…[0-9a-f]{4}\b/g, 'DIGEST')
      .replaceAll(/(?:[A-Z][a-z]{2} )?\d{1,2} [A-Z][a-z]{2}(?: \d{4})?/g, 'DAY')
      .replaceAll(/(?:\b[A-Z][a-z]{2} )?\b\d{2}:\d{2}(?::\d{2})?(?: UTC)?/g, 'TIME')
      .replaceAll(/ *\b[\d.,]+ (?:ms|s|min)\b/g, ' SPAN')
      // How wide a column is depends on the times in it.
      .replaceAll(/(?<=\S) {2,}/g, '  ')
      .replaceAll(/ +$/gm, '')
  );
};

export type Played = { readonly page: string; readonly expected: string; readonly actual: string };

/** An example that works on a database names it by this variable; a server of its own is started for it. */
const STORE = 'ONRECORD_STORE';
/** As the README shows the database, whichever it was. */
const DATABASE = 'postgres://onrecord@127.0.0.1:5432/onrecord';

const folderOf = (example: string): string => join(EXAMPLES, example);

/** Why an example cannot run on this machine; undefined where it can. */
export const cannotPlay = (example: string): string | undefined =>
  readFileSync(join(folderOf(example), 'README.md'), 'utf8').includes(STORE) ? noPostgres() : undefined;

/** Runs an example as its README says, in its folder, from a clean desk. */
export const playExample = async (example: string): Promise<Played> => {
  const page = readFileSync(join(folderOf(example), 'README.md'), 'utf8');
  if (!page.includes(STORE)) return play(example, page, {});
  const server = await PostgresServer.start();
  try {
    const played = play(example, page, { [STORE]: server.url });
    return { ...played, actual: played.actual.replaceAll(server.url, DATABASE) };
  } finally {
    await server.stop();
  }
};

const play = (example: string, page: string, more: Readonly<Record<string, string>>): Played => {
  const folder = folderOf(example);
  const steps = stepsOf(page);
  if (steps.length === 0) throw new Error(`${example}/README.md has no commands.`);
  const clean = (): void => rmSync(join(folder, '.onrecord'), { recursive: true, force: true });
  clean();
  const [written, real] = [none(), none()];
  const lines: string[] = [];
  try {
    for (const { command, printed } of steps) {
      const line = renamed(command, (kind, name) => {
        // A page that was never run numbers them: s_00000001.
        const at = /^(?:s_)?0{7}\d$/.test(name) ? Number(name.at(-1)) - 1 : placeOf(written[kind], name);
        const found = real[kind][at] ?? name;
        return kind === 'digest' ? found.slice(0, name.length) : found;
      });
      const out = shell(folder, line, more);
      gather(printed, written);
      gather(out, real);
      lines.push(`$ ${line}`, ...(out === '' ? [] : [out]));
    }
  } finally {
    clean();
  }
  const actual = lines.join('\n');
  return { page, expected: (BLOCK.exec(page)?.[1] ?? '').trimEnd(), actual };
};

const shell = (folder: string, command: string, more: Readonly<Record<string, string>>): string => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const quoted = command.replace(/^onrecord /, `${process.execPath} ${join(ROOT, 'bin/onrecord.js')} `);
  const line = quoted.replace(/^node /, `${process.execPath} `);
  const ran = spawnSync('/bin/sh', ['-c', `${line} 2>&1`], {
    cwd: folder,
    encoding: 'utf8',
    timeout: COMMAND_MS,
    input: '',
    env: { ...env, ...more, TZ: 'UTC', NO_COLOR: '1', USER: 'ada' },
  });
  if (ran.error) throw ran.error;
  return ran.stdout.trimEnd();
};

if (import.meta.main) {
  const only = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const write = process.argv.includes('--write');
  let stale = 0;
  for (const name of numberedExamples()) {
    if (only.length > 0 && !only.some((word) => name.startsWith(word))) continue;
    const why = cannotPlay(name);
    if (why !== undefined) {
      console.log(`- ${name}: not run here, ${why}`);
      continue;
    }
    const { page, expected, actual } = await playExample(name);
    const same = steady(actual) === steady(expected);
    console.log(`${same ? '✓' : write ? '+' : '✗'} ${name}`);
    if (write)
      writeFileSync(
        join(EXAMPLES, name, 'README.md'),
        page.replace(BLOCK, () => `\`\`\`console\n${actual}\n\`\`\``),
      );
    else if (!same) {
      stale++;
      console.log(actual);
    }
  }
  process.exitCode = stale > 0 ? 1 : 0;
}
