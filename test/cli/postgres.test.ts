/** The console on a store in PostgreSQL: one line of configuration instead of another. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { Project } from './desk-stage.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
const PASSWORD = 'geheim';
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

/** A URL with a password, which a server that trusts everybody does not ask for. */
const secret = (): string => server.unmigrated().replace('onrecord@', `onrecord:${PASSWORD}@`);

const withStore = (project: Project, store: string, more: string = ''): void => {
  const agents = join(import.meta.dirname, 'desk-agents.ts');
  writeFileSync(
    join(project.folder, 'onrecord.config.ts'),
    `import { agentsIn } from ${JSON.stringify(agents)};\nexport default { agents: agentsIn(import.meta.dirname), store: ${JSON.stringify(store)}${more} };\n`,
  );
};

// Many real processes, one after the other.
describe.skipIf(reason !== undefined)(`onrecord over PostgreSQL${skipped}`, { timeout: 240_000 }, () => {
  it('migrates, runs, lists, proves and says what is wrong, and shows the password nowhere', async () => {
    const project = new Project();
    withStore(project, secret());
    const said: string[] = [];
    const onrecord = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
      const ran = await project.onrecord(args);
      said.push(ran.stdout, ran.stderr);
      return ran;
    };
    const early = await onrecord('sessions');
    expect(early).toMatchObject({ code: 9 });
    expect(early.stderr).toContain('onrecord migrate');
    expect((await onrecord('migrate')).stdout).toMatch(/has its tables now, in format \d+\.\n$/);
    expect((await onrecord('migrate')).stdout).toContain('Nothing was changed.');
    expect(JSON.parse((await onrecord('migrate', '--json')).stdout)).toMatchObject({ from: 2, to: 2 });

    expect((await onrecord('run', 'single', 'Pay it.')).code).toBe(3);
    const [row] = JSON.parse((await onrecord('sessions', '--json')).stdout) as { session: string }[];
    const session = row?.session ?? '';
    expect((await onrecord('show', session, '--timeline')).code).toBe(0);
    expect(await onrecord('verify', session)).toMatchObject({ code: 0 });
    expect(await onrecord('verify', '--all')).toMatchObject({ code: 0 });
    expect(await onrecord('replay', session)).toMatchObject({ code: 0 });
    expect((await onrecord('doctor')).stdout).toContain('on a primary');
    const backup = await onrecord('backup', 'x.db');
    expect(backup.code).not.toBe(0);
    expect(backup.stderr).toContain('works on a file');
    expect(said.join('')).not.toContain(PASSWORD);
  });

  it('a flipped byte in the database is found', async () => {
    const project = new Project();
    const url = server.unmigrated();
    withStore(project, url);
    await project.onrecord(['migrate']);
    await project.onrecord(['run', 'single', 'Pay it.']);
    expect((await project.onrecord(['verify', '--all'])).code).toBe(0);
    const schema = new URL(url).searchParams.get('schema') ?? '';
    const client = new Client(server.url);
    await client.connect();
    await client.query(
      `UPDATE ${schema}.event SET body = set_byte(body, length(body) / 2, get_byte(body, length(body) / 2) # 1) WHERE seq = 2`,
    );
    await client.end();
    expect((await project.onrecord(['verify', '--all'])).code).toBe(7);
  });

  it('copies a SQLite store there and back; a second copy adds nothing, another session of the name is refused', async () => {
    const project = new Project();
    const session = await project.session('single');
    await project.onrecord(['mode', 'read-only']);
    await project.onrecord(['mode', 'normal']);
    const fork = await project.onrecord(['fork', session, '--at', '2', '--close-open']);
    expect(fork).toMatchObject({ code: 0 });
    // The gate's own log stands in no list, and that is no flaw.
    expect(await project.onrecord(['verify', '--all'])).toMatchObject({ code: 0 });
    const url = server.unmigrated();
    await project.onrecord(['migrate', '--store', url]);
    const there = await project.onrecord(['copy', '--from', '.onrecord/log.db', '--to', url, '--json']);
    expect(there).toMatchObject({ code: 0, stderr: '' });
    const { sessions, events } = JSON.parse(there.stdout) as { sessions: number; events: number };
    expect(sessions).toBe(3);
    const again = await project.onrecord([
      'copy',
      '--from',
      'sqlite:.onrecord/log.db',
      '--to',
      url,
      '--json',
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject({ sessions, events: 0 });
    const back = await project.onrecord(['copy', '--from', url, '--to', 'back.db', '--json']);
    expect(JSON.parse(back.stdout)).toMatchObject({ sessions, events });
    const list = async (store: string): Promise<string> =>
      (await project.onrecord(['sessions', '--json', '--store', store])).stdout;
    expect(await list(url)).toBe(await list('.onrecord/log.db'));
    expect(await list('back.db')).toBe(await list('.onrecord/log.db'));
    expect(await project.onrecord(['verify', '--all', '--store', 'back.db'])).toMatchObject({ code: 0 });

    await project.onrecord(['mode', 'frozen', '--store', 'back.db']);
    await project.onrecord(['mode', 'read-only']);
    const other = await project.onrecord(['copy', '--from', '.onrecord/log.db', '--to', 'back.db']);
    expect(other.stderr).toContain('has another session control');
  });

  it('refuses to work where replication is asked for and not there', async () => {
    const project = new Project();
    const url = await server.store();
    withStore(project, url, ", durability: 'replicated'");
    const ran = await project.onrecord(['sessions']);
    expect(ran.code).toBe(9);
    expect(ran.stderr).toContain('synchronous_standby_names');
  });
});
