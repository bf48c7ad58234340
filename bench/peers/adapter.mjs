// The product in the harness of the peers, which copies this file into a folder of its own beside its `lib`.
// ONRECORD_BUILD names a build of the product; what a run asks for comes from the harness's `hooks`.
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { main } from '../../lib/child.mjs';
import { SYSTEM, USER } from '../../lib/work.mjs';

const build = process.env.ONRECORD_BUILD;
const { defineAgent, openRuntime, SqliteLog, tool } = await import(`${build}/index.js`);
const { neutralEncoder } = await import(`${build}/model/neutral.js`);

/** Beyond any measurement: the limits are checked all the same. */
const UNLIMITED = 1e9;
/** At these steps the conversation is parsed and counted; at each one that would be measured with the runtime. */
const COUNTED = new Set([0, 1, 9]);

const messagesIn = (request) => JSON.parse(request.body()).messages.length;

/** Each run of the harness has hooks of its own, and so an agent of its own: a model is not told which session asks. */
const agentFor = (ctx, name) =>
  defineAgent({
    name,
    instructions: SYSTEM,
    model: {
      definition: { provider: 'harness', name: 'scripted', params: {} },
      encoder: neutralEncoder,
      send: async (request) => {
        const { n, h } = ctx.runs.get(name);
        const step = request.modelCall - 1;
        if (step >= n) return { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'Closed.' }] };
        const counted = COUNTED.has(step) || ctx.cfg.mode === 'resume';
        const { text, callId, name: called, args } = h.model(step, counted ? messagesIn(request) : undefined);
        return {
          kind: 'response',
          stop: 'calls',
          content: [
            { type: 'text', text },
            { type: 'call', label: callId, name: called, args: JSON.stringify(args) },
          ],
        };
      },
    },
    tools: [
      tool({
        name: 'lookup',
        description: 'Looks something up.',
        effect: 'none',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string' },
            ref: { type: 'string' },
            page: { type: 'integer' },
            limit: { type: 'integer', minimum: 1 },
          },
          required: ['query', 'page'],
          additionalProperties: false,
        },
        execute: ({ page }) => ctx.runs.get(name).h.tool(page),
      }),
    ],
    limits: { stepsPerTurn: UNLIMITED, turnMs: UNLIMITED },
  });

const names = ({ mode, runs = 0 }) =>
  mode === 'conc'
    ? ['warm', ...Array.from({ length: runs }, (_, i) => `c${i}`)]
    : ['init', 'warm', 'main', `cold${process.pid}`];

const size = {
  sqlite: async ({ cfg }) => {
    const db = new DatabaseSync(`${cfg.dir}/log.db`);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const pragma = (name) => Object.values(db.prepare(`PRAGMA ${name}`).get())[0];
    const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
    db.close();
    return bytes;
  },
  pg: async ({ cfg }) => {
    const client = new Client(cfg.pgUrl);
    await client.connect();
    const { rows } = await client.query(
      `SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_catalog.pg_statio_user_tables`,
    );
    await client.end();
    return Number(rows[0].bytes);
  },
};

const openStore = async ({ variant, dir, pgUrl, mode }) => {
  if (variant === 'sqlite') return new SqliteLog(`${dir}/log.db`);
  const { migratePostgres, PostgresLog } = await import(`${build}/postgres.js`);
  if (mode === 'init') await migratePostgres(pgUrl);
  return PostgresLog.open(pgUrl);
};

const { variant } = JSON.parse(process.argv[2]);

main({
  async open(cfg) {
    const ctx = { cfg, runs: new Map() };
    const agents = names(cfg).map((name) => agentFor(ctx, name));
    ctx.runtime = await openRuntime({ store: await openStore(cfg), agents, drive: cfg.mode !== 'resume' });
    return ctx;
  },
  async run({ runtime, runs }, name, n, h) {
    runs.set(name, { n, h });
    // The same key is the same session: a run that the store has already goes on.
    const { session } = await runtime.send({ agent: name, key: name, message: USER });
    const { status } = await runtime.rest(session);
    if (status !== 'done') throw new Error(`run ${name} ended as ${status}`);
  },
  size: (ctx) => size[variant](ctx),
  close: ({ runtime }) => runtime.close(),
});
