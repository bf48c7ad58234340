/** What a program may use. Every limit has a name, a default and a ceiling; reaching one is said by that name. */
import { badInput } from '../errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

export type RoomLimits = {
  /** Ticks of the engine, about 10,000 turns of an empty loop each. Stops at the same instruction each time. */
  readonly ticks: number;
  /** Milliseconds from handing the program over to its answer; then the process is killed. */
  readonly wallMs: number;
  /** Bytes of the engine's heap. */
  readonly memoryBytes: number;
  /** Bytes of the engine's stack. */
  readonly stackBytes: number;
  /** UTF-8 bytes of the program. */
  readonly codeBytes: number;
  /** UTF-8 bytes of the input as JSON. */
  readonly inputBytes: number;
  readonly filesIn: number;
  readonly filesInBytes: number;
  readonly filesOut: number;
  readonly filesOutBytes: number;
  /** UTF-8 bytes of the result as JSON. */
  readonly resultBytes: number;
  /** UTF-8 bytes of console output; what is over is dropped and counted. */
  readonly logBytes: number;
  /** Calls of tools that a program may ask for, those with an answer included. */
  readonly toolCalls: number;
  /** UTF-8 bytes of the arguments of all calls of a run. */
  readonly callBytes: number;
};

export const ROOM_LIMITS: RoomLimits = {
  ticks: 10_000,
  wallMs: 15_000,
  memoryBytes: 64 * MIB,
  stackBytes: 256 * KIB,
  codeBytes: 256 * KIB,
  inputBytes: MIB,
  filesIn: 64,
  filesInBytes: 16 * MIB,
  filesOut: 32,
  filesOutBytes: 8 * MIB,
  resultBytes: MIB,
  logBytes: 64 * KIB,
  toolCalls: 100,
  callBytes: MIB,
};

export const ROOM_LIMITS_MAX: RoomLimits = {
  ticks: 200_000,
  wallMs: 120_000,
  memoryBytes: 256 * MIB,
  // quickjs-wasi takes half of its 1 MiB stack and no more (MAX_STACK_SIZE in its types).
  stackBytes: 512 * KIB,
  codeBytes: MIB,
  inputBytes: 8 * MIB,
  filesIn: 256,
  filesInBytes: 64 * MIB,
  filesOut: 128,
  filesOutBytes: 32 * MIB,
  resultBytes: 4 * MIB,
  logBytes: MIB,
  toolCalls: 1000,
  callBytes: 4 * MIB,
};

/** Throws `room-invalid` for a name that there is not, or a value outside its range. */
export const roomLimits = (given: Partial<RoomLimits> = {}): RoomLimits => {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(ROOM_LIMITS, name))
      throw badInput(
        'room-invalid',
        `There is no room limit called "${name}"; there are ${Object.keys(ROOM_LIMITS).join(', ')}.`,
        { limit: name },
      );
    const max = ROOM_LIMITS_MAX[name as keyof RoomLimits];
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw badInput(
        'room-invalid',
        `The room limit ${name} is ${String(value)}; it must be a whole number from 1 to ${max}.`,
        { limit: name, max },
      );
  }
  return { ...ROOM_LIMITS, ...given };
};
