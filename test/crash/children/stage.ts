/** Trio processes over one store, and the same store seen from here. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { EffectKind } from '../../../src/event/effect-kind.ts';
import { open } from '../../../src/event/envelope.ts';
import type { LogEvent } from '../../../src/event/events.ts';
import { SqliteLog } from '../../../src/log/sqlite.ts';
import type { LogStore, StorageFault } from '../../../src/log/store.ts';
import { verify } from '../../../src/replay/verify.ts';
import { openRuntime, type Runtime } from '../../../src/worker/runtime.ts';
import { startChild, type Child } from '../../kit/child.ts';
import { tempFolder } from '../../kit/folder.ts';
import { linesIn } from '../../kit/lines.ts';
import { trio, type Trio } from './trio.ts';
import type { TrioArguments } from './trio-process.ts';

export type Server = Child & { readonly session: string };

export class Scene {
  readonly folder: string;
  readonly file: string;
  readonly #world: string;
  readonly kind: EffectKind;

  constructor(kind: EffectKind, folder: string = tempFolder()) {
    this.folder = folder;
    this.file = join(folder, 'log.db');
    this.#world = join(folder, 'world');
    this.kind = kind;
  }

  /** What happened outside, whoever did it. */
  get world(): readonly string[] {
    return linesIn(this.#world).map((line) => line.slice(line.indexOf(' ') + 1));
  }

  async start(some: Partial<TrioArguments> = {}): Promise<Child> {
    const given: TrioArguments = { file: this.file, world: this.#world, kind: this.kind, ...some };
    const child = startChild('../crash/children/trio-process.ts', [JSON.stringify(given)]);
    await child.line((line) => line === 'open');
    return child;
  }

  /** A process that has taken a message. */
  async serve(some: Partial<TrioArguments> = {}): Promise<Server> {
    const child = await this.start(some);
    child.say('send');
    const line = await child.line((one) => one.startsWith('session '));
    return Object.assign(child, { session: line.slice('session '.length) });
  }

  /** This process over the same store; the world is written down as ever. */
  async here(
    options: Partial<Trio> & { readonly drive?: boolean } = {},
  ): Promise<{ runtime: Runtime; told: readonly string[] }> {
    const { drive = true, ...rest } = options;
    const told: string[] = [];
    const agent = trio({ kind: this.kind, tell: (line) => void told.push(line), ...rest });
    const runtime = await openRuntime({ store: new SqliteLog(this.file), agents: [agent], drive });
    onTestFinished(() => runtime.close({ drainMs: 0 }));
    return { runtime, told };
  }
}

export const eventsOf = async (store: LogStore, session: string): Promise<readonly LogEvent[]> =>
  (await store.read(session)).map(open);

export const typesOf = async (store: LogStore, session: string): Promise<readonly string[]> =>
  (await eventsOf(store, session)).map((event) => event.type);

/** The log proves itself: chain, blobs, requests, and no gap between two numbers. */
export const expectProof = async (store: LogStore, session: string): Promise<readonly LogEvent[]> => {
  const events = await eventsOf(store, session);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
  expect((await verify(store, session)).findings).toEqual([]);
  return events;
};

/** Only what names the execution, without its number of the attempt. */
export const keysOf = (lines: readonly string[], name: string): readonly string[] =>
  lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.replace(/#\d+$/, ''));

const POLL_MS = 5;
/** Far longer than anything here takes on a slow machine: it only ends a wait for what never comes. */
const PATIENCE_MS = 60_000;

/** Waits on a condition of a real process or a real disk, where nobody calls back. */
export const soon = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`This did not come about: ${what}.`);
    await wait(POLL_MS);
  }
};

/** Waits until a process says that its work waits for the store. */
export const expectFault = async (server: Child, fault: StorageFault): Promise<void> => {
  const answers = (): readonly string[] => server.lines.filter((line) => line.startsWith('fault '));
  await soon(`the fault ${fault}`, async () => {
    const before = answers().length;
    server.say('fault');
    await server.line(() => answers().length > before);
    return answers().at(-1) === `fault ${fault}`;
  });
};
