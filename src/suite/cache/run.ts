/** Runs a cache experiment through the runtime, so that every request is in a record, and reads what came of it. */
import type { Clock } from '../../clock.ts';
import { rebuildAll } from '../../context/rebuild.ts';
import type { Prices } from '../../cost/prices.ts';
import { open } from '../../event/envelope.ts';
import type { LogStore } from '../../log/store.ts';
import type { Model } from '../../model/model.ts';
import { cacheReuse } from '../../view/cache-reuse.ts';
import { spendLines, spendOf } from '../../view/spend.ts';
import { defineAgent, type Agent } from '../../worker/agent.ts';
import { openRuntime, type Runtime } from '../../worker/runtime.ts';
import { cellsOf, pingsOf, type CacheExperiment, type Cell } from './experiment.ts';

export type CellResult = {
  readonly cell: Cell;
  readonly session: string;
  /** Sessions that kept its prefix warm. */
  readonly pingSessions: readonly string[];
  /** Over all turns but the first. Tokens that came from the cache, of all that went in; 0 to 1. */
  readonly readShare: number | undefined;
  /** What the bytes would have allowed, of the same. */
  readonly expectedShare: number | undefined;
  /** Milliseconds, mean over all turns but the first. */
  readonly firstTokenMs: number | undefined;
  /** US dollars: a turn but the first, and all pings; undefined where unknown. */
  readonly turnUsd: number | undefined;
  readonly pingUsd: number | undefined;
};

export type CacheRun = {
  readonly results: readonly CellResult[];
  /** US dollars, as far as known. */
  readonly spent: number;
  /** Why it ended before all was measured. */
  readonly stopped: 'budget' | 'interrupted' | 'failed' | undefined;
};

export type RunOptions = {
  readonly experiment: CacheExperiment;
  readonly model: Model;
  /** Known to the runtime beside its own. */
  readonly prices: Prices | undefined;
  readonly store: LogStore;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** US dollars: nothing more is asked once so much is spent. */
  readonly budgetUsd: number;
  /** Makes prefixes of this run unlike those of any other. */
  readonly run: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
};

/** Closes the store. */
export const runExperiment = async (options: RunOptions): Promise<CacheRun> => {
  const { store, clock, prices, onProgress } = options;
  const cells = cellsOf(options.experiment);
  const agents = cells.map((cell, i) => cellAgent(options, cell, i));
  const runtime = await openRuntime({ store, agents, clock, drive: false, ...(prices && { prices }) });
  const results: CellResult[] = [];
  let spent = 0;
  try {
    for (const [i, cell] of cells.entries()) {
      onProgress?.(i, cells.length);
      const agent = agents[i]?.definition.name ?? '';
      const done = await new CellRun(
        { ...options, budgetUsd: options.budgetUsd - spent },
        { cell, agent, runtime },
      ).run();
      spent += done.spent;
      if (done.result) results.push(done.result);
      if (done.stopped) return { results, spent, stopped: done.stopped };
    }
    return { results, spent, stopped: undefined };
  } finally {
    await runtime.close();
  }
};

const cellAgent = ({ model, run, budgetUsd }: RunOptions, cell: Cell, i: number): Agent =>
  defineAgent({
    name: `measure-cache-${i + 1}`,
    instructions: filler(run, cell),
    model,
    limits: { sessionCostUsd: budgetUsd },
  });

type Done = {
  readonly result: CellResult | undefined;
  readonly spent: number;
  readonly stopped: CacheRun['stopped'];
};

/** Words without meaning, of about so many tokens; the first differ from run to run and cell to cell. */
const filler = (run: string, { name, prefixTokens }: Cell): string => {
  const first = `Measurement ${run}, ${name}. Answer every message with OK and nothing else.`;
  const words = ['harbour', 'ledger', 'window', 'copper', 'quiet', 'river', 'seven', 'letter'];
  let text = first;
  for (let i = 0; text.length < prefixTokens * 4; i++) text += ` ${words[(i * i + 3 * i) % words.length]}`;
  return text;
};

type CellPlace = { readonly cell: Cell; readonly agent: string; readonly runtime: Runtime };

class CellRun {
  readonly #options: RunOptions;
  readonly #place: CellPlace;
  readonly #sessions: string[] = [];
  #spent = 0;

  constructor(options: RunOptions, place: CellPlace) {
    this.#options = options;
    this.#place = place;
  }

  async run(): Promise<Done> {
    const session = await this.#ask(undefined, 'Message 1.');
    for (let turn = 2; turn <= this.#options.experiment.turns; turn++) {
      await this.#pause();
      const stopped = this.#stopped() ?? (await this.#failed(session));
      if (stopped) return { result: undefined, spent: this.#spent, stopped };
      await this.#ask(session, `Message ${turn}.`);
    }
    return { result: await this.#result(session), spent: this.#spent, stopped: undefined };
  }

  async #failed(session: string): Promise<'failed' | undefined> {
    const { turns } = await this.#place.runtime.state(session);
    return turns.at(-1)?.outcome === 'done' ? undefined : 'failed';
  }

  #stopped(): CacheRun['stopped'] {
    if (this.#options.signal.aborted) return 'interrupted';
    return this.#spent >= this.#options.budgetUsd ? 'budget' : undefined;
  }

  async #ask(session: string | undefined, message: string): Promise<string> {
    const { runtime, agent } = this.#place;
    const sent = await runtime.send({ ...(session === undefined ? { agent } : { session }), message });
    await runtime.rest(sent.session);
    if (session === undefined) this.#sessions.push(sent.session);
    await this.#count();
    return sent.session;
  }

  async #pause(): Promise<void> {
    const { cell } = this.#place;
    const { gapMs, pingEveryMs = gapMs } = cell;
    let left = gapMs;
    for (let ping = 0; ping < pingsOf(cell) && !this.#stopped(); ping++) {
      await this.#options.sleep(pingEveryMs);
      left -= pingEveryMs;
      // A session of its own: it shares the instructions and leaves the measured conversation alone.
      await this.#ask(undefined, 'Ping.');
    }
    await this.#options.sleep(Math.max(0, left));
  }

  async #lines(session: string): Promise<ReturnType<typeof spendLines>> {
    return spendLines(session, (await this.#options.store.read(session)).map(open));
  }

  async #count(): Promise<void> {
    let sum = 0;
    for (const session of this.#sessions) sum += spendOf('', await this.#lines(session)).cost;
    this.#spent = sum;
  }

  async #result(session: string): Promise<CellResult> {
    const { store, prices } = this.#options;
    const events = (await store.read(session)).map(open);
    const requests = rebuildAll(events, (digest) => store.blob(digest));
    const none: Prices = { priceOf: () => undefined };
    const rows = (await cacheReuse(session, events, requests, { prices: prices ?? none })).slice(1);
    const lines = (await this.#lines(session)).slice(1);
    const pingSessions = this.#sessions.filter((one) => one !== session);
    const pings = (await Promise.all(pingSessions.map((one) => this.#lines(one)))).flat();
    const sum = (of: (row: (typeof rows)[number]) => number | undefined): number =>
      rows.reduce((all, row) => all + (of(row) ?? 0), 0);
    const tokens = sum((row) => row.tokens);
    return {
      cell: this.#place.cell,
      session,
      pingSessions,
      readShare: tokens > 0 ? sum((row) => row.reported?.cacheRead) / tokens : undefined,
      expectedShare: tokens > 0 ? sum((row) => row.sharedTokens) / tokens : undefined,
      firstTokenMs: mean(lines.map((one) => one.firstTokenMs)),
      turnUsd: mean(lines.map((one) => one.cost)),
      pingUsd: pings.some((one) => one.cost === undefined) ? undefined : spendOf('', pings).cost,
    };
  }
}

/** Undefined where one is not known, or there is none. */
const mean = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0 || known.length < values.length) return undefined;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
};
