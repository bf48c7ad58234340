/**
 * The floor: what cannot be had for less with the same file and the same promise. Raw node:sqlite, WAL and
 * synchronous=FULL, one table; the message, every model turn, every result and the answer are one INSERT each, in one
 * commit of its own.
 */
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { answer, commitsOf, cpuMs, StepsWatch, usedBytes } from './probe.ts';
import { WARM_STEPS, type ManyAnswer, type ReadAnswer, type StepsAnswer, type Task } from './task.ts';
import { ANSWER, QUESTION, resultAt, turnAt } from './work.ts';

const INSERT = 'INSERT INTO event (run, seq, kind, body) VALUES (?, ?, ?, ?)';

type Table = { readonly path: string; readonly db: DatabaseSync; readonly insert: StatementSync };

const openTable = (folder: string): Table => {
  const path = join(folder, 'floor.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE event (run TEXT, seq INTEGER, kind TEXT, body TEXT, UNIQUE (run, seq))');
  return { path, db, insert: db.prepare(INSERT) };
};

type StepsTask = Task & { readonly kind: 'steps' };

type Row = readonly [run: string, seq: number, kind: string, body: string];

/** Runs the loop for one run; `put` makes a row durable before it resolves. */
const run = async (
  name: string,
  steps: number,
  put: (row: Row) => Promise<void> | undefined,
  began?: (step: number) => void,
): Promise<void> => {
  await put([name, 0, 'message', QUESTION]);
  for (let step = 0; step < steps; step++) {
    began?.(step);
    await put([name, 2 * step + 1, 'turn', JSON.stringify(turnAt(step))]);
    await put([name, 2 * step + 2, 'result', JSON.stringify(resultAt(step))]);
  }
  began?.(steps);
  await put([name, 2 * steps + 1, 'answer', ANSWER]);
};

const runSteps = async ({ folder, steps, sessions, warm }: StepsTask): Promise<StepsAnswer> => {
  const { path, db, insert } = openTable(folder);
  const put = (row: Row): undefined => void insert.run(...row);
  await run('warm', warm, put);
  const before = usedBytes(db);
  const watch = new StepsWatch(path);
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let session = 0; session < sessions; session++)
    await run(`run ${session}`, steps, put, (step) => watch.began(step, steps));
  const ms = performance.now() - start;
  const used = cpuMs(cpu);
  const bytes = usedBytes(db) - before;
  db.close();
  return { ms, cpuMs: used, bytes, ...watch.tell() };
};

/** What all runs want to write in one turn of the event loop goes into one commit. */
const groupCommit = ({ db, insert }: Table): ((row: Row) => Promise<void>) => {
  let waiting: { readonly row: Row; readonly resolve: () => void }[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    db.exec('BEGIN IMMEDIATE');
    for (const { row } of batch) insert.run(...row);
    db.exec('COMMIT');
    for (const { resolve } of batch) resolve();
  };
  return (row) =>
    new Promise((resolve) => {
      waiting.push({ row, resolve });
      if (waiting.length === 1) setImmediate(flush);
    });
};

const runMany = async (folder: string, sessions: number, steps: number): Promise<ManyAnswer> => {
  const table = openTable(folder);
  const put = groupCommit(table);
  await run('warm', WARM_STEPS, put);
  const before = commitsOf(table.path);
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: sessions }, (_, i) => run(`run ${i}`, steps, put)));
  const ms = performance.now() - began;
  const found = { ms, cpuMs: cpuMs(cpu), commits: commitsOf(table.path) - before };
  table.db.close();
  return found;
};

/** Every row of a session in the product's own file, read and parsed without the product. */
const readRows = (store: string, session: string): ReadAnswer => {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const db = new DatabaseSync(store);
  const rows = db
    .prepare(
      'SELECT seq, hash, body FROM event WHERE session = (SELECT id FROM session WHERE name = ?) ORDER BY seq',
    )
    .all(session) as { body: string | Uint8Array }[];
  for (const { body } of rows) if (typeof body === 'string') JSON.parse(body);
  db.close();
  return { ms: performance.now() - began, cpuMs: cpuMs(cpu), events: rows.length };
};

const perform = async (task: Task): Promise<object> => {
  switch (task.kind) {
    case 'steps':
      return runSteps(task);
    case 'many':
      return runMany(task.folder, task.sessions, task.steps);
    case 'rows':
      return readRows(task.store, task.session);
    default:
      throw new Error(`The floor cannot do ${task.kind}.`);
  }
};

answer(await perform(JSON.parse(process.argv[2] ?? '{}') as Task));
