/** What a record proves, and the record handed on: forks, replay, verify, bundles. */
import { setImmediate } from 'node:timers/promises';
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bundleLines } from '../../bundle/write.ts';
import { open } from '../../event/envelope.ts';
import { pages } from '../../log/pages.ts';
import { Replay, type Replayed, type ReplayOptions } from '../../replay/replay.ts';
import { verify as verifyLog } from '../../replay/verify.ts';
import { PROGRAM } from '../../worker/program.ts';
import { body, json, PROBLEM, REPLAYED } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { streamOf } from '../frames.ts';
import { allow, neededKey } from '../guard.ts';
import { ProblemError } from '../problem.ts';
import { forked, newFork, replayReport, verifyReport, type ReplayReport } from '../reports.ts';
import { sessionId } from '../schemas.ts';
import { encoders, stateFor } from '../shown.ts';

const BUNDLE_TYPE = 'application/x-ndjson';

const params = z.object({ session: sessionId });

const fork = createRoute({
  method: 'post',
  path: '/sessions/{session}/forks',
  summary: 'A new session on the past of this one.',
  description:
    'The Idempotency-Key names it: the same key at the same event of the same session is the same fork. Both share all events up to `at`, or to the next place where a log can stand. A place inside a turn is refused, unless `closeOpen` says to close what is open there.',
  request: { params, body: body(newFork) },
  responses: { 201: json(forked, 'The fork.'), default: PROBLEM },
});

const replay = createRoute({
  method: 'post',
  path: '/sessions/{session}/replay',
  summary: 'Make every decision again from the recorded facts and compare it byte for byte.',
  description: 'Reads only: no network, no tools, no clock.',
  request: { params },
  responses: { 200: json(replayReport, 'What came of it.'), default: PROBLEM },
});

const verify = createRoute({
  method: 'get',
  path: '/sessions/{session}/verify',
  summary: 'Whether the record proves itself: hashes, blobs, requests, decisions.',
  request: { params },
  responses: { 200: json(verifyReport, 'Findings; none where it does.'), default: PROBLEM },
});

const bundle = createRoute({
  method: 'get',
  path: '/sessions/{session}/bundle',
  summary: 'The session as one file that proves itself anywhere.',
  description:
    'Verified before it is written. The last line is a trailer: a file without it was cut off. `onrecord verify FILE` checks it.',
  request: { params },
  responses: {
    200: { description: 'JSON lines.', content: { [BUNDLE_TYPE]: { schema: z.string() } } },
    default: PROBLEM,
  },
});

export const proofRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  const { runtime, store } = door;
  app.openapi(fork, async (context) => {
    const caller = allow(context, 'submit');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const { at, title, closeOpen } = context.req.valid('json');
    const made = await runtime.fork({
      session,
      at,
      key: neededKey(context),
      by: caller.actor,
      ...(title !== undefined && { title }),
      ...(closeOpen && { closeOpen }),
    });
    if (made.replayed) await refuseOther(door, made, title);
    if (made.replayed) context.header(REPLAYED, 'true');
    const url = `/sessions/${made.session}`;
    context.header('location', url);
    const { session: parent, seq, hash } = made.parent;
    return context.json({ session: made.session, parent: { session: parent, seq, hash }, url }, 201);
  });
  app.openapi(replay, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    return context.json(await proving(door, () => replayed(door, session)), 200);
  });
  app.openapi(verify, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    const found = await proving(door, () => verifyLog(store, session, { replay: remade(door) }));
    return context.json({ ...found, proved: found.findings.length === 0 }, 200);
  });
  app.openapi(bundle, async (context) => {
    const caller = allow(context, 'read');
    const { session } = context.req.valid('param');
    await stateFor(door, caller, session);
    return bundled(door, context, session);
  });
};

/** A fork under this key is there; the same key with another title is another wish. */
const refuseOther = async (
  { store }: Door,
  { session, parent }: { readonly session: string; readonly parent: { readonly seq: number } },
  title: string | undefined,
): Promise<void> => {
  const [stored] = await store.read(session, parent.seq + 1, parent.seq + 1);
  const event = stored && open(stored);
  if (event?.type === 'session.forked' && event.data.title === title) return;
  throw new ProblemError(
    'idempotency-key-reused',
    `The key names the fork ${session} already, with another title.`,
  );
};

const remade = ({ runtime }: Door): Pick<ReplayOptions, 'encoderOf' | 'program'> => ({
  encoderOf: encoders(runtime),
  program: PROGRAM,
});

/** Such work reads whole logs: few at a time, so that turns are accepted meanwhile. */
export const proving = async <T>(door: Door, work: () => Promise<T>): Promise<T> => {
  const done = door.meter.proof();
  try {
    return await work();
  } finally {
    done();
  }
};

const replayed = async (door: Door, session: string): Promise<ReplayReport> => {
  const run = new Replay({ session, ...remade(door) });
  for await (const page of pages(door.store, session)) {
    if (!page.every((stored) => run.push(open(stored)))) break;
    // A turn of the event loop: other requests are answered meanwhile.
    await setImmediate();
  }
  return reportOf(run.end());
};

const reportOf = ({ state: _state, difference, ...counts }: Replayed): ReplayReport => ({
  ...counts,
  identical: difference === undefined,
  difference: difference
    ? { ...difference, recorded: difference.recorded ?? null, now: difference.now ?? null }
    : null,
});

const bundled = async (door: Door, context: Context<DoorEnv>, session: string): Promise<Response> => {
  const headers = {
    'content-type': BUNDLE_TYPE,
    'content-disposition': `attachment; filename="${session.replaceAll(/[^A-Za-z0-9_-]/g, '_')}.onrecord"`,
  };
  if (context.req.method === 'HEAD') return new Response(null, { headers });
  const done = door.meter.proof();
  try {
    const { findings } = await verifyLog(door.store, session, { replay: remade(door) });
    const [first] = findings;
    if (first) throw new ProblemError('record-damaged', `The record does not prove itself: ${first.message}`);
    const lines = bundleLines(door.store, session);
    // What cannot be bundled at all is a problem, not a stream that breaks.
    const begun = await lines.next();
    const text = async function* (): AsyncGenerator<string, void, undefined> {
      if (begun.done !== true) yield begun.value;
      yield* lines;
    };
    return new Response(streamOf(text(), done), { headers });
  } catch (error) {
    done();
    throw error;
  }
};
