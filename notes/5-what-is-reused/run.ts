/**
 * Consecutive requests of one record, against a simulated provider whose rule is stated: what the next request
 * shares with the last one, and what breaks that. Then pauses, by `onrecord measure cache` and its own stated rules.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Bench } from '../kit/bench.ts';
import { eventsOf, eventTable } from '../kit/events.ts';
import type { Findings } from '../kit/findings.ts';
import { WAIT_SECONDS, type Machine, type Server } from '../kit/machine.ts';
import type { Note } from '../kit/note.ts';
import { PrefixCache } from '../kit/prefix-cache.ts';
import { ChatProvider } from '../kit/provider.ts';
import { textTable } from '../kit/text-table.ts';

const NAME = '5-what-is-reused';

const SAID = [
  'The customer is Halden Joinery.',
  'They want oak, not beech. A table of two metres and six chairs.',
  'The wood is to be oiled and not varnished.',
] as const;
const NEXT = 'Write the offer.';

/** The rates of the simulated providers, in dollars a million tokens: those that the rules of `measure cache` have. */
const PRICES = `date: 2026-11-29
models:
  - { provider: by-rule, model: clerk-1, input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }
  - { provider: simulated, model: cache-rules, input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }
`;

const WAYS = ['goes on', 'a turn left out', 'a summary', 'other instructions'] as const;
type Way = (typeof WAYS)[number];

/** A row of GET /sessions/{session}/cache. */
type Reuse = {
  readonly bytes: number;
  readonly sharedBytes: number;
  readonly tokens: number;
  readonly reported: { readonly cacheRead: number; readonly cacheWrite: number };
  readonly causes: readonly { readonly kind: string }[];
  readonly lostUsd: number;
};

type Gone = { readonly session: string; readonly reuse: readonly Reuse[] };

const run = async (bench: Bench, findings: Findings): Promise<void> => {
  const cache = new PrefixCache();
  const provider = bench.closing(
    await ChatProvider.open((request) => ({ text: answerTo(request.body), usage: cache.ask(request) })),
  );
  const folder = bench.folder('project');
  const machine = (instructions?: string): Machine => {
    const env = {
      NOTE_PROVIDER: provider.url,
      ...(instructions !== undefined && { NOTE_INSTRUCTIONS: instructions }),
    };
    const made = bench.machine(NAME, { folder, env });
    made.write('prices.yaml', PRICES);
    return made;
  };
  const first = await machine().serve();
  const parent = await said(first);
  const gone: Partial<Record<Way, Gone>> = {};
  for (const way of WAYS.slice(0, 3)) gone[way] = await goOn(first, parent, way);
  await first.kill();
  const second = await machine('You write offers for a smith.').serve();
  gone['other instructions'] = await goOn(second, parent, 'other instructions');
  const all = gone as Record<Way, Gone>;
  drawReuse(all, findings);
  claims(all, findings);
  await leave(second, { parent, gone: all }, findings);
  await second.kill();
  await pauses(machine(), findings);
  await real(machine(), findings);
};

const SUMMARY = 'Halden Joinery wants an oak table of two metres and six chairs, oiled.';

const answerTo = (body: string): string =>
  body.includes('Write a summary of everything above.') ? SUMMARY : 'It is noted.';

const said = async (server: Server): Promise<string> => {
  let session: string | undefined;
  for (const [i, message] of SAID.entries()) {
    const asking = { key: `say-${i + 1}`, waitSeconds: WAIT_SECONDS };
    const turn = await (session === undefined
      ? server.client.createSession({ agent: 'clerk', message }, asking)
      : server.client.send(session, { message }, asking));
    equal(turn.state, 'done');
    session = turn.session;
  }
  return session ?? '';
};

const CHANGES: Readonly<Partial<Record<Way, { readonly path: string; readonly body: object }>>> = {
  'a turn left out': { path: 'selection', body: { change: { do: 'leave-out', turns: [1] } } },
  'a summary': { path: 'compaction', body: {} },
};

const goOn = async (server: Server, parent: string, way: Way): Promise<Gone> => {
  const { head } = await server.client.session(parent);
  const { session } = await server.client.fork(parent, { at: head }, { key: way.replaceAll(' ', '-') });
  const change = CHANGES[way];
  if (change) {
    const { status, text } = await server.http('POST', `/sessions/${session}/${change.path}`, {
      body: change.body,
    });
    equal(status, 200, text);
  }
  const turn = await server.client.send(
    session,
    { message: NEXT },
    { key: 'next', waitSeconds: WAIT_SECONDS },
  );
  equal(turn.state, 'done');
  const { items } = await server.json<{ readonly items: readonly Reuse[] }>(`/sessions/${session}/cache`);
  return { session, reuse: items };
};

/** The request that the message led to. */
const lastOf = ({ reuse }: Gone): Reuse => {
  const last = reuse.at(-1);
  if (!last) throw new Error('a session that was asked has a request');
  return last;
};

const BAR = 24;

const bar = ({ sharedBytes, bytes }: Reuse): string => {
  const full = Math.round((sharedBytes / bytes) * BAR);
  return '█'.repeat(full) + '░'.repeat(BAR - full);
};

const drawReuse = (gone: Record<Way, Gone>, findings: Findings): void => {
  const rows = WAYS.map((way) => {
    const last = lastOf(gone[way]);
    const { cacheRead } = last.reported;
    const why = last.causes.map(({ kind }) => kind).join(', ');
    return [
      way,
      bar(last),
      `${last.sharedBytes}`,
      `${last.bytes}`,
      `${cacheRead}`,
      `${last.tokens}`,
      why === '' ? '-' : why,
    ];
  });
  findings.piece(
    'reuse',
    textTable([
      [
        'the next request',
        'shared with the last one',
        '>bytes',
        '>of',
        '>tokens read',
        '>of',
        'the record’s reason',
      ],
      ...rows,
    ]),
  );
};

const claims = (gone: Record<Way, Gone>, findings: Findings): void => {
  const on = gone['goes on'];
  findings.shown(
    'a session that only goes on shares all of the last request',
    'bytes, from the first on',
    () => {
      for (const [i, { sharedBytes, causes }] of on.reuse.entries()) {
        // All but the end of the last one: the bracket that closes its conversation.
        if (i > 0) equal(sharedBytes, (on.reuse[i - 1]?.bytes ?? 0) - ']}'.length);
        deepEqual(causes, []);
      }
    },
  );
  findings.shown(
    'the provider read what the bytes allow, and no more',
    'its report beside the shared bytes',
    () => {
      for (const way of WAYS) {
        const { reported, sharedBytes } = lastOf(gone[way]);
        ok(reported.cacheRead <= Math.ceil(sharedBytes / 4), way);
      }
      ok(lastOf(on).reported.cacheRead > 0);
    },
  );
  findings.shown('each break has its reason on record, and a price', 'GET /sessions/{session}/cache', () => {
    for (const way of WAYS) equal(lastOf(gone[way]).lostUsd > 0, way !== 'goes on', way);
    deepEqual(
      WAYS.map((way) => lastOf(gone[way]).causes.map(({ kind }) => kind)),
      [[], ['selection'], ['selection'], ['instructions']],
    );
  });
};

const leave = async (
  server: Server,
  { parent, gone }: { readonly parent: string; readonly gone: Record<Way, Gone> },
  findings: Findings,
): Promise<void> => {
  findings.file('events.txt', eventTable(await eventsOf(server, parent)));
  for (const way of WAYS) {
    const { session, reuse } = gone[way];
    findings.file(`requests/${way.replaceAll(' ', '-')}.json`, await server.request(session, reuse.length));
  }
  findings.bundle('other-instructions.onrecord', await server.bundle(gone['other instructions'].session));
};

type Cell = {
  readonly cell: { readonly gapMs: number; readonly pingEveryMs?: number };
  readonly session: string;
  readonly readShare: number;
  readonly turnUsd: number;
  readonly pingUsd: number;
};

const MINUTE_MS = 60_000;
const PAUSES = 3;

const usd = (value: number): string => `$${value.toFixed(4)}`;

/** Pauses between turns, at once: the simulated provider and the runtime share a clock that jumps. */
const pauses = async (machine: Machine, findings: Findings): Promise<void> => {
  const measured = JSON.parse(
    await machine.onrecord([
      'measure',
      'cache',
      '--gaps',
      '1m,6m,20m,60m',
      '--prefix',
      '8000',
      '--keep',
      '--json',
    ]),
  ) as { readonly results: readonly Cell[] };
  const { results } = measured;
  findings.piece(
    'pauses',
    textTable([
      ['>pause', 'kept warm', '>read', '>three turns', '>pings', '>together'],
      ...results.map(({ cell, readShare, turnUsd, pingUsd }) => [
        `${cell.gapMs / MINUTE_MS} min`,
        cell.pingEveryMs === undefined ? 'no' : `a ping each ${cell.pingEveryMs / MINUTE_MS} min`,
        `${(readShare * 100).toFixed(1)} %`,
        usd(turnUsd * PAUSES),
        usd(pingUsd),
        usd(turnUsd * PAUSES + pingUsd),
      ]),
    ]),
  );
  const cold = results.find(({ cell }) => cell.gapMs === 20 * MINUTE_MS && cell.pingEveryMs === undefined);
  const warm = results.find(({ cell }) => cell.gapMs === 20 * MINUTE_MS && cell.pingEveryMs !== undefined);
  if (!cold || !warm) throw new Error('a pause of twenty minutes was measured, with pings and without');
  findings.piece('cold', await machine.onrecord(['cache', cold.session]));
  const fromRecord = await machine.onrecord(['cache', cold.session, '--warm']);
  findings.piece('warm', fromRecord);
  findings.figure(/Pings would have cost (\$[\d.]+)/.exec(fromRecord)?.[1] ?? 'not said');
  findings.figure(usd(warm.pingUsd));
  await machine.onrecord(['export', cold.session, '-o', 'cold.onrecord']);
  findings.bundle('cold.onrecord', machine.read('cold.onrecord'));
  findings.shown('behind a pause over the lifetime nothing is read', 'by the stated rules', () =>
    equal(cold.readShare, 0),
  );
  findings.shown('a ping in time keeps the prefix', 'by the stated rules', () => ok(warm.readShare > 0.99));
};

/** Asks a real provider where there is a key and somebody says what it may cost. Never compared with the page. */
const real = async (machine: Machine, findings: Findings): Promise<void> => {
  findings.notShown('a real provider’s cache', 'no key was at hand where this page was written');
  const [key, budget] = [process.env['ANTHROPIC_API_KEY'], process.env['NOTE_BUDGET_USD']];
  if (key === undefined || budget === undefined) return;
  const options = ['--agent', 'real', '--turns', '3', '--gaps', '1s', '--prefix', '5000', '--ping', 'none'];
  findings.aside(
    `A real provider, for at most $${budget}:\n${await machine.onrecord(['measure', 'cache', ...options, '--budget', budget, '--yes'])}`,
  );
};

export const note: Note = { number: 5, name: NAME, run };
