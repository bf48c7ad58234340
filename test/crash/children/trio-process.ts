/**
 * A process that serves the trio over a SQLite store. Usage: trio-process.ts JSON, see TrioArguments.
 * It prints what happens: "open", "session ID", "event SEQ TYPE", what the trio tells, "closing".
 * It reads: "send", "settle" (the slow call or the model goes on), "rest ID" (prints "rest STATUS"), "fault"
 * (prints "fault KIND"), "sweep", "approve ID". SIGTERM closes it.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { systemClock, type Clock } from '../../../src/clock.ts';
import type { EffectKind } from '../../../src/event/effect-kind.ts';
import { SqliteLog } from '../../../src/log/sqlite.ts';
import { LEASE_MS } from '../../../src/worker/claims.ts';
import { openRuntime } from '../../../src/worker/runtime.ts';
import { trio } from './trio.ts';

export type TrioArguments = {
  readonly file: string;
  /** Where the world keeps its own record. */
  readonly world: string;
  readonly kind: EffectKind;
  readonly drainMs?: number;
  readonly drive?: boolean;
  readonly asks?: boolean;
  /** Whether the model answers only after the line "settle". */
  readonly modelWaits?: boolean;
  /** Whether its wall clock stands still and it never sweeps: no lease runs out, and what it does it was told to do. */
  readonly still?: boolean;
};

const given = JSON.parse(process.argv[2] ?? '{}') as TrioArguments;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const settled = Promise.withResolvers<void>();
const began = systemClock.now();
const still: Clock = {
  ...systemClock,
  now: () => began,
  after: (ms, callback, background) =>
    ms === LEASE_MS / 3 ? { cancel: () => undefined } : systemClock.after(ms, callback, background),
};

const runtime = await openRuntime({
  store: new SqliteLog(given.file),
  clock: given.still === true ? still : systemClock,
  drive: given.drive ?? true,
  log: { info: say, warn: (message) => say(`warning ${message}`) },
  agents: [
    trio({
      kind: given.kind,
      asks: given.asks ?? false,
      tell: (line) => {
        appendFileSync(given.world, `${process.pid} ${line}\n`);
        say(line);
      },
      slow: () => settled.promise.then(() => 'slow 3, settled'),
      ...(given.modelWaits === true && { model: () => settled.promise }),
    }),
  ],
});

const follow = async (session: string): Promise<void> => {
  try {
    for await (const event of runtime.follow(session)) say(`event ${event.seq} ${event.type}`);
  } catch {
    // The store is closed, which is the end of every story.
  }
};

const approve = async (session: string): Promise<void> => {
  const { active } = await runtime.state(session);
  for (const { id, digest, phase } of active?.calls ?? [])
    if (phase === 'asking' && digest)
      await runtime.decide({ session, call: id, digest, decision: { do: 'approve' } });
  say('approved');
};

const obey = async (line: string): Promise<void> => {
  const [word, session = ''] = line.split(' ');
  if (word === 'send') {
    const sent = await runtime.send({ agent: 'trio', key: 'k', message: 'Do all three.' });
    say(`session ${sent.session}`);
    void follow(sent.session);
  }
  if (word === 'settle') settled.resolve();
  if (word === 'rest') say(`rest ${(await runtime.rest(session)).status}`);
  if (word === 'fault') say(`fault ${runtime.storageFault?.fault ?? 'none'}`);
  if (word === 'sweep') await runtime.sweep();
  if (word === 'approve') await approve(session);
};

createInterface({ input: process.stdin }).on('line', (line) => {
  obey(line).catch((error: unknown) => say(`error ${(error as { code?: string }).code ?? String(error)}`));
});

process.once('SIGTERM', () => {
  say('closing');
  void runtime.close({ drainMs: given.drainMs ?? 5000 }).then(() => process.exit(0));
});
say('open');
