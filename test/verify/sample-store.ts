/** A store with sessions of every kind, closed and whole: finished, waiting, in doubt, settled, with files beside the log. */
import { mkdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import {
  content,
  defineAgent,
  openRuntime,
  scriptedModel,
  SqliteLog,
  tool,
  type Runtime,
} from '../../src/index.ts';
import { Project } from '../cli/desk-stage.ts';

export type Sample = {
  readonly project: Project;
  readonly path: string;
  readonly bytes: Buffer;
  readonly sessions: readonly string[];
};

const approveAll = async (project: Project, session: string): Promise<void> => {
  for (;;) {
    const [approval] = await project.waiting(session);
    if (!approval) return;
    const { call, digest } = approval;
    await project.withRuntime(async (runtime) => {
      await runtime.decide({ session, call, digest, decision: { do: 'approve' } });
      await runtime.rest(session);
    });
  }
};

const open = { type: 'object' } as const;

/** A tool whose result is over the size from which on bodies are packed, and one that gives a file. */
const big = async (project: Project): Promise<string> => {
  const store = new SqliteLog(project.storePath);
  const agent = defineAgent({
    name: 'big',
    instructions: 'Read much.',
    limits: { resultBytes: 6000 },
    tools: [
      tool({
        name: 'much',
        description: 'gives much',
        inputSchema: open,
        effect: 'none',
        execute: () =>
          content({
            kind: 'bytes',
            bytes: Buffer.from(Array.from({ length: 9000 }, (_, i) => i % 251)),
            type: 'image/x-raw',
          }),
      }),
      tool({
        name: 'long',
        description: 'gives a long text',
        inputSchema: open,
        effect: 'none',
        execute: () => Array.from({ length: 900 }, (_, i) => `line ${i} of a long text`).join('\n'),
      }),
    ],
    model: scriptedModel({
      name: 'big',
      steps: [{ calls: [{ tool: 'much' }, { tool: 'long' }] }, { text: 'Read.' }],
    }),
  });
  const runtime: Runtime = await openRuntime({ store, agents: [agent], drive: false });
  try {
    const { session } = await runtime.send({ agent: 'big', message: 'Go on.' });
    await runtime.rest(session);
    return session;
  } finally {
    await runtime.close();
  }
};

export const sampleStore = async (): Promise<Sample> => {
  const project = new Project();
  mkdirSync(project.folder, { recursive: true });
  const finished = await project.session('single');
  await approveAll(project, finished);
  const office = await project.session('office');
  const pair = await project.session('pair');
  await approveAll(project, pair);
  const doubt = await project.session('doubt');
  await approveAll(project, doubt);
  const large = await big(project);
  const sessions = [finished, office, pair, doubt, large];
  return { project, path: project.storePath, bytes: readFileSync(project.storePath), sessions };
};

type Row = Readonly<Record<string, unknown>>;

const unpacked = (body: unknown, size?: number): string => {
  if (typeof body === 'string') return `text ${body}`;
  if (!(body instanceof Uint8Array)) return typeof body;
  const bytes = size === body.length ? body : zstdDecompressSync(body);
  return `bytes ${Buffer.from(bytes).toString('hex')}`;
};

const plain = (value: unknown): unknown =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString('hex')
    : typeof value === 'bigint'
      ? String(value)
      : value;

/**
 * Everything that a store says, read without any code of the product: two stores with one dump are the same record.
 * Read by the tables and by the indexes, in case these differ.
 */
export const dump = (path: string): string => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const all = (text: string): readonly Row[] => db.prepare(text).all();
    const events = all('SELECT session, seq, hash, at, type, body FROM event ORDER BY session, seq').map(
      (row) => [
        row['session'],
        row['seq'],
        plain(row['hash']),
        plain(row['at']),
        row['type'],
        unpacked(row['body']),
      ],
    );
    const blobs = all('SELECT digest, size, body FROM blob ORDER BY digest').map((row) => [
      plain(row['digest']),
      row['size'],
      unpacked(row['body'], Number(row['size'])),
    ]);
    const sessions = all(
      'SELECT id, name, agent, status, can_go_on, updated_at, summary FROM session ORDER BY id',
    );
    const unordered = all('SELECT count(*) AS n, sum(seq) AS s FROM event NOT INDEXED');
    return JSON.stringify({ events, blobs, sessions, unordered }, (_, value: unknown) => plain(value));
  } finally {
    db.close();
  }
};
