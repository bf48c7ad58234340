/** QuickJS in WebAssembly, made ready for one program: its clock stands still, its randomness has a seed. */
import { hash } from 'node:crypto';
import { QuickJS, type JSValueHandle } from 'quickjs-wasi';
import type { RoomJob } from '../job.ts';
import type { Job, Outside } from './outside.ts';
import { PRELUDE } from './prelude.ts';

/** What program errors call the program. */
export const PROGRAM = 'program.js';

/** A compiled WebAssembly module; this project's types know no WebAssembly. */
export type Module = object & { readonly __brand?: 'WebAssembly.Module' };
type Memory = { readonly buffer: ArrayBuffer };

/** Three words for the generator behind Math.random(). */
const seedOf = (text: string): readonly number[] => {
  const digest = hash('sha256', text, 'buffer');
  return [0, 4, 8].map((at) => digest.readInt32LE(at));
};

/** A fresh engine, ready for one job that is not known yet. What it does until then is the same each time. */
export class Machine {
  readonly vm: QuickJS;
  outside: Outside | undefined;
  ticks = 0;
  #max = Infinity;
  #clockMs = 0;
  readonly #open: JSValueHandle;
  readonly #start: JSValueHandle;
  readonly #collect: JSValueHandle;

  static async make(module: Module, limits: RoomJob['limits']): Promise<Machine> {
    let machine: Machine | undefined;
    const vm = await QuickJS.create({
      wasm: module,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      interruptHandler: () => machine?.tick() ?? false,
      wasi: (memory: Memory) => ({
        clock_time_get: (_clock: number, _precision: bigint, at: number): number => {
          const now = BigInt(machine?.clockMs ?? 0) * 1_000_000n;
          new DataView(memory.buffer).setBigUint64(at, now, true);
          return 0;
        },
        random_get: (at: number, length: number): number => {
          new Uint8Array(memory.buffer, at, length).fill(0);
          return 0;
        },
        // Standard output is the way back to the host: the engine's own messages have no business there.
        fd_write: (): number => 8,
      }),
    });
    machine = new Machine(vm);
    return machine;
  }

  constructor(vm: QuickJS) {
    this.vm = vm;
    const make = vm.evalCode(PRELUDE, 'room.js');
    const room = vm.callFunction(
      make,
      vm.undefined,
      hostOf(vm, () => this.#given()),
    );
    this.#open = room.getProp('open');
    this.#start = room.getProp('start');
    this.#collect = room.getProp('collect');
  }

  get clockMs(): number {
    return this.#clockMs;
  }

  /** Whether the engine is to stop. */
  tick(): boolean {
    return ++this.ticks > this.#max || this.outside?.stop !== undefined;
  }

  /** Whether the program has used up its ticks. */
  get isSpent(): boolean {
    return this.ticks > this.#max;
  }

  #given(): Outside {
    if (!this.outside) throw new Error('there is no job yet');
    return this.outside;
  }

  /** The outcome as the prelude says it. Throws what the engine says of its end. */
  run(job: Job, outside: Outside): string {
    const { vm } = this;
    this.outside = outside;
    this.#clockMs = job.clockMs;
    this.ticks = 0;
    this.#max = job.limits.ticks;
    const seed = JSON.stringify(seedOf(job.seed));
    const config = `{"input":${job.input},"tools":${JSON.stringify(job.tools)},"seed":${seed}}`;
    vm.callFunction(this.#open, vm.undefined, vm.newString(config));
    // On one line with the first line of the program, so that lines in errors are the program's own.
    const source = `(async (input, files, tools, console) => {"use strict";${job.code}\n})`;
    vm.callFunction(this.#start, vm.undefined, vm.evalCode(source, PROGRAM));
    vm.executePendingJobs();
    return vm.callFunction(this.#collect, vm.undefined).toString();
  }
}

const text = (handle: JSValueHandle | undefined): string => (handle?.isString ? handle.toString() : '');

const hostOf = (vm: QuickJS, given: () => Outside): JSValueHandle => {
  const host = vm.newObject();
  const give = (name: string, answer: (...args: readonly JSValueHandle[]) => JSValueHandle): void =>
    host.setProp(
      name,
      vm.newFunction(name, (...args) => answer(...args)),
    );
  give('log', (line) => {
    given().log(text(line));
    return vm.undefined;
  });
  give('read', (name) => vm.newString(Buffer.from(given().file(text(name))).toString('utf8')));
  give('bytes', (name) => vm.newUint8Array(given().file(text(name))));
  give('list', () => vm.newString(JSON.stringify(given().list())));
  give('write', (name, content) => {
    if (content?.isString) given().write(text(name), new Uint8Array(Buffer.from(content.toString())));
    else if (content?.isArrayBuffer || content?.className === 'Uint8Array')
      given().write(text(name), content.toUint8Array());
    else throw new Error('A file is written as a text or a Uint8Array.');
    return vm.undefined;
  });
  give('call', (tool, args) => {
    const answer = given().call(text(tool), text(args));
    return answer === undefined ? vm.undefined : vm.newString(answer);
  });
  return host;
};
