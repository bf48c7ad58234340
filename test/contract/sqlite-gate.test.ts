/** Two processes on one file: one drives as fast as it can, the other one shuts and opens the gate. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { storedEvent, type EventRow } from '../../src/log/sqlite-row.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { startChild } from '../kit/child.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';

const SESSIONS = 6;
const STEPS = 60;
const FREEZES = 40;

type Row = EventRow & { readonly name: string };

/** Every event of every log, in the one order in which they were committed. */
const committed = (
  file: string,
): readonly { readonly log: string; readonly type: string; readonly mode: string }[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  const query =
    'SELECT session.name, event.* FROM event JOIN session ON session.id = event.session ORDER BY event.rowid';
  const rows = db.prepare(query).all() as Row[];
  db.close();
  return rows.map(({ name, ...row }) => {
    const { type, data } = JSON.parse(storedEvent(row).body) as { type: string; data: { mode?: string } };
    return { log: name, type, mode: data.mode ?? '' };
  });
};

const BEGINS = new Set(['call.started', 'request.built', 'request.sent']);

test(
  'once a freeze has returned nothing begins until it is lifted, in any process',
  { timeout: 120_000 },
  async () => {
    const file = tempFile();
    const store = openSqlite(file);
    const operator = await openRuntime({ store, agents: [], drive: false });
    const driver = startChild('child-busy.ts', [file, String(SESSIONS), String(STEPS)]);
    await driver.line((line) => line === 'running');
    /** Events in the store when a freeze had returned, and just before it was lifted. */
    let grown = 0;
    for (let i = 0; i < FREEZES; i++) {
      await operator.setMode('frozen');
      const before = committed(file).filter(({ type }) => BEGINS.has(type)).length;
      await calm(20 + 10 * (i % 5));
      const after = committed(file).filter(({ type }) => BEGINS.has(type)).length;
      grown += after - before;
      await operator.setMode('normal');
      await calm(50);
    }
    await driver.line((line) => line === 'done');
    await driver.done();

    expect(grown).toBe(0);
    let mode = 'normal';
    let begun = 0;
    const against: string[] = [];
    for (const event of committed(file)) {
      if (event.log === 'control') mode = event.mode;
      else if (BEGINS.has(event.type) && mode === 'frozen') against.push(`${event.log} ${event.type}`);
      else if (BEGINS.has(event.type)) begun++;
    }
    expect(against).toEqual([]);
    expect(begun).toBe(SESSIONS * (2 * STEPS + 1));
    expect((await store.sessions({ limit: 1000 })).map(({ session }) => session)).not.toContain('control');
  },
);
