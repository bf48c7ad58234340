/** onrecord worker: a process that does nothing but drive, beside a door that only takes in. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/worker/runtime.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { agentsIn } from './desk-agents.ts';
import { Project } from './desk-stage.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
const BIN = join(import.meta.dirname, '../../bin/onrecord.js');
const PATIENCE = { timeout: 60_000, interval: 50 };
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

const configured = (url: string, more: string): Project => {
  const project = new Project();
  writeFileSync(
    join(project.folder, 'onrecord.config.ts'),
    `import { agentsIn } from ${JSON.stringify(join(import.meta.dirname, 'desk-agents.ts'))};
export default { agents: agentsIn(import.meta.dirname), store: ${JSON.stringify(url)}, ${more} };\n`,
  );
  return project;
};

describe.skipIf(reason !== undefined)(`onrecord worker${skipped}`, { timeout: 240_000 }, () => {
  test('drives what a door takes in, and ends with 0 when it is asked to, with nothing left that it holds', async () => {
    const url = server.unmigrated();
    const project = configured(url, "dispatch: 'pg-boss', work: { tenants: { '*': 3 } }");
    expect((await project.onrecord(['migrate'])).stdout).toContain('queue of its workers');
    const worker = spawn(process.execPath, [BIN, 'worker', '--drain', '30s'], { cwd: project.folder });
    onTestFinished(() => void worker.kill('SIGKILL'));
    let errors = '';
    worker.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const [line] = (await once(createInterface({ input: worker.stdout }), 'line')) as string[];
    expect(line).toMatch(/^✓ Worker \S+ drives sessions of postgres:.*, at most 1,000 at once\.$/);

    const store = await openPostgres(url);
    const door = await openRuntime({ store, agents: agentsIn(project.folder), drive: false });
    const { session } = await door.send({ agent: 'single', message: 'Pay it.', tenant: 'acme' });
    const statusOf = async (): Promise<unknown> => (await store.sessions())[0]?.summary.status;
    await expect.poll(statusOf, PATIENCE).toBe('waiting');
    const { active } = await door.state(session);
    const [call] = active?.calls ?? [];
    if (!call?.digest) throw new Error('a call is asked about');
    await door.decide({ session, call: call.id, digest: call.digest, decision: { do: 'approve' } });
    await expect.poll(statusOf, PATIENCE).toBe('done');

    // With all that it said.
    const ended = once(worker, 'close');
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(errors).toContain('Stopping');
    expect((await store.sessions())[0]?.lease).toBeUndefined();
    await door.close();
  });

  test('says what is wrong with its limits, its queue and its place, and drives nothing then', async () => {
    const url = await server.store();
    const wrong = await configured(url, 'work: { tenants: { acme: 0 } }').onrecord(['worker']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('work.tenants["acme"] is 0');
    const missing = await configured(url, "dispatch: 'pg-boss'").onrecord(['worker']);
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('onrecord migrate');
    const file = await configured('log.db', "dispatch: 'pg-boss'").onrecord(['worker']);
    expect(file).toMatchObject({ code: 2 });
    expect(file.stderr).toContain('keeps its queue in PostgreSQL');
    const odd = await configured(url, '').onrecord(['worker', '--sessions', 'many']);
    expect(odd).toMatchObject({ code: 2 });
  });
});
