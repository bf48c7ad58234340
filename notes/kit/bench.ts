/** Where experiments are made: machines in folders of their own, one PostgreSQL for all, and everything ended after. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noPostgres, PostgresServer } from '../../test/kit/postgres-server.ts';
import { Machine, ROOT, type MachineOptions } from './machine.ts';

type Closing = { close(): Promise<void> };

export type BenchMachineOptions = Omit<MachineOptions, 'config' | 'compiled'> & {
  /** Default: one of its own. */
  readonly folder?: string;
};

export class Bench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'onrecord-notes-'));
  readonly #open: Closing[] = [];
  #postgres: Promise<PostgresServer> | undefined;
  #machines = 0;

  /** With the configuration of a note's folder. */
  machine(note: string, { folder, ...options }: BenchMachineOptions = {}): Machine {
    const config = join(ROOT, 'notes', note, 'onrecord.config.ts');
    return this.closing(
      new Machine(folder ?? this.#nextFolder(), { ...options, config, compiled: this.#compiled }),
    );
  }

  /** A folder of its own, empty. */
  folder(name: string): string {
    const folder = join(this.#nextFolder(), name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** A machine that knows no agent. */
  emptyMachine(): Machine {
    const config = join(import.meta.dirname, 'no-agents.ts');
    return this.closing(new Machine(this.#nextFolder(), { config, compiled: this.#compiled }));
  }

  get #compiled(): string {
    return join(this.#folder, 'compiled');
  }

  #nextFolder(): string {
    return join(this.#folder, `machine-${++this.#machines}`);
  }

  /** The URL of a new, empty store in a real PostgreSQL; an error's text where none can run here. */
  async postgres(): Promise<{ readonly url: string } | { readonly missing: string }> {
    const missing = noPostgres();
    if (missing !== undefined) return { missing };
    this.#postgres ??= PostgresServer.start();
    return { url: await (await this.#postgres).store() };
  }

  /** Is closed with the bench, last opened first. */
  closing<T extends Closing>(one: T): T {
    this.#open.push(one);
    return one;
  }

  /** Ends what a note has left open; the PostgreSQL stays for the next one. */
  async clear(): Promise<void> {
    for (let one = this.#open.pop(); one; one = this.#open.pop()) await one.close();
  }

  async close(): Promise<void> {
    await this.clear();
    await (await this.#postgres)?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
