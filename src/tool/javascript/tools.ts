/**
 * run_javascript: runs a program that the model wrote, in a room. It has no effect on the world: what it wants done
 * it asks for, and those are calls of the session like any other. Where it needs one, the attempt ends; once it has its
 * result, the program is run again on the same clock and seed, and is handed what its calls have brought so far.
 */
import { isOnrecordError } from '../../errors.ts';
import { sha256, type Digest } from '../../event/canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import type { RoomEnd } from '../../room/job.ts';
import {
  BOUNDARY,
  LEVELS,
  type Engine,
  type Level,
  type RoomFacts,
  type RoomRecord,
} from '../../room/level.ts';
import type { RoomLimits } from '../../room/limits.ts';
import { BOOT_MS_MAX } from '../../room/room.ts';
import { openRooms, type RoomRun, type Rooms, type RoomsOptions } from '../../room/rooms.ts';
import { NeededCalls } from '../calls.ts';
import { content, type ContentPart, type ToolContent } from '../content.ts';
import type { Preview } from '../preview.ts';
import { tool, ToolError, type OutputLabels, type Tool, type ToolContext } from '../tool.ts';
import { javascriptInput, programOf, type JavascriptInput } from './input.ts';
import { limitWords, programPreview } from './preview.ts';

export type JavascriptToolsOptions = Omit<RoomsOptions, 'clock'> & {
  /** Rooms that are open already; the other options for rooms are then not looked at. */
  readonly rooms?: Rooms;
  /** Default "run_javascript". */
  readonly name?: string;
  /** Names of the agent's tools that a program may call. Default none. */
  readonly tools?: readonly string[];
  readonly labels?: OutputLabels;
};

/** The JSON part of a result; files that the program wrote are parts of their own beside it. */
export type JavascriptResult = {
  readonly ok: boolean;
  /** What the program returned. */
  readonly value?: unknown;
  readonly error?: { readonly why: string; readonly message: string; readonly line?: number };
  readonly console?: {
    readonly text: string;
    readonly droppedLines?: number;
    readonly droppedBytes?: number;
  };
  /** Their bytes are in the record under these digests (SHA-256). */
  readonly files?: readonly { readonly name: string; readonly bytes: number; readonly digest: Digest }[];
  readonly room: RoomRecord;
};

const describe = ({ level, engine, limits, callable }: Setting): string =>
  'Runs a JavaScript program and returns what it returns. The code is the body of an async function of `input`, ' +
  '`files` (read, bytes, write, list), `tools` and `console`; it has no import, network, timers or other files. ' +
  (engine === 'quickjs'
    ? 'Date stands still and Math.random repeats, so that the same program gives the same result. '
    : 'It runs in Node with `require`, and is not repeatable. ') +
  (callable.length === 0 || engine === 'node'
    ? ''
    : `A program calls other tools with await tools["NAME"](args): ${callable.join(', ')}. Name those that it calls in \`tools\`. Each is a call like your own: it may be asked about, and throws where it is not run. `) +
  `Limits: ${limitWords(limits)}. Level ${level}: ${BOUNDARY[level]}`;

/** What a call is bound to once it was shown: what runs it. */
type Base = Pick<RoomFacts, 'level' | 'guestDigest'>;

const baseOf = (value: Json | undefined): Base | undefined =>
  isJsonObject(value) && typeof value['guestDigest'] === 'string' ? (value as unknown as Base) : undefined;

const preview = async (given: JavascriptInput, setting: Setting): Promise<Preview> => {
  const program = programOf(given, setting.callable);
  const rooms = await roomsOf(setting);
  const { level, guestDigest } = rooms.facts;
  return { ...programPreview(given, program, rooms), base: { level, guestDigest } };
};

type Setting = {
  readonly level: Level;
  readonly engine: Engine;
  readonly limits: RoomLimits;
  readonly callable: readonly string[];
  /** Opens them where that has not been done. Throws `room-unavailable`. */
  readonly rooms: () => Promise<Rooms>;
};

/** Where there are none nothing ran: that is for a person, and the model is told. */
const roomsOf = async ({ rooms }: Setting): Promise<Rooms> => {
  try {
    return await rooms();
  } catch (error) {
    throw isOnrecordError(error) && error.code === 'room-unavailable' ? unavailable(error) : error;
  }
};

const unavailable = (error: Error): ToolError =>
  new ToolError(`There is no room to run it in. ${error.message}`, {
    code: 'room-unavailable',
    cause: error,
  });

const execute = async (
  given: JavascriptInput,
  context: ToolContext,
  setting: Setting,
): Promise<ToolContent | NeededCalls> => {
  const program = programOf(given, setting.callable);
  const rooms = await roomsOf(setting);
  const shown = baseOf(context.base);
  const { level, guestDigest } = rooms.facts;
  if (shown && (shown.level !== level || shown.guestDigest !== guestDigest))
    throw new ToolError(
      `The call was shown with a room of level ${shown.level}; what runs it here is another one, of level ${level}. It was not run.`,
      { code: 'room-changed' },
    );
  // Both from the record, so that each attempt goes the same way.
  const [clockMs, seed] = [context.startedAt, context.idempotencyKey];
  const run = await ranIn(rooms, { ...program, answers: context.made, clockMs, seed }, context);
  context.signal.throwIfAborted();
  const { end } = run;
  if (end.kind !== 'suspended') return resultOf(end, run);
  return new NeededCalls(end.calls.map(({ tool: name, args }) => ({ tool: name, args: argsOf(args) })));
};

/** What is no object is refused where the call is proposed. */
const argsOf = (text: string): JsonObject => JSON.parse(text) as JsonObject;

const ranIn = async (
  rooms: Rooms,
  job: Parameters<Rooms['run']>[0],
  { signal }: ToolContext,
): Promise<RoomRun> => {
  try {
    return await rooms.run(job, signal);
  } catch (error) {
    // Nothing ran: what is wrong with the job is for the model, what is wrong with the machine for a person.
    if (isOnrecordError(error) && error.code === 'job-invalid')
      throw new ToolError(error.message, { code: 'program-refused', cause: error });
    if (isOnrecordError(error) && error.code === 'room-unavailable') throw unavailable(error);
    throw error;
  }
};

type RunEnd = Exclude<RoomEnd, { kind: 'suspended' }>;

const resultOf = (end: RunEnd, { record }: RoomRun): ToolContent => {
  const result: JavascriptResult = { ...endOf(end), ...consoleOf(end), room: record };
  const files = end.kind === 'done' ? [...end.files] : [];
  return content(
    { kind: 'json', value: result },
    ...files.map(([name, bytes]): ContentPart => ({
      kind: 'bytes',
      bytes,
      name,
      type: 'application/octet-stream',
    })),
  );
};

const consoleOf = ({ console }: RoomEnd): Pick<JavascriptResult, 'console'> => {
  const { text, droppedLines, droppedBytes } = console;
  if (text === '' && droppedLines === 0) return {};
  return { console: { text, ...(droppedLines > 0 && { droppedLines, droppedBytes }) } };
};

const endOf = (end: RunEnd): Pick<JavascriptResult, 'ok' | 'value' | 'error' | 'files'> => {
  switch (end.kind) {
    case 'done': {
      const files = [...end.files].map(([name, bytes]) => ({
        name,
        bytes: bytes.length,
        digest: sha256(bytes),
      }));
      return {
        ok: true,
        ...(end.value !== undefined && { value: JSON.parse(end.value) as unknown }),
        ...(files.length > 0 && { files }),
      };
    }
    case 'failed': {
      const { why, message, line } = end;
      return { ok: false, error: { why, message, ...(line !== undefined && { line }) } };
    }
    default:
      return end satisfies never;
  }
};

/** Rooms may have to be started, and a job may wait for others to end. */
const TOOL_TIMEOUT_EXTRA_MS: number = 2 * BOOT_MS_MAX;

/**
 * The JavaScript tool of an agent. The level of its rooms is part of the definition that sessions record, so that
 * a step begun with one level is never run at another. Throws what openRooms() throws: `room-unavailable`,
 * `room-invalid`. For the model: program-refused, room-unavailable, room-changed.
 */
export const javascriptTools = async (options: JavascriptToolsOptions = {}): Promise<readonly Tool[]> => {
  const { tools: callable = [], level: wanted = 'auto', require } = options;
  const rooms = options.rooms ?? (await openRooms(options));
  const { facts, limits } = rooms;
  const { level, engine } = facts;
  const setting: Setting = { level, engine, limits, callable, rooms: async () => rooms };
  // Whoever names a level means every session; otherwise each keeps the one that it began with.
  const free = !options.rooms && wanted === 'auto' && require === undefined && engine === 'quickjs';
  const others = LEVELS.filter((other) => free && other !== level).map((other) =>
    toolAt({ ...setting, level: other, rooms: opening({ ...options, level: other }) }, options),
  );
  return [toolAt(setting, options, others)];
};

/** Opened when they are first wanted, and again where that failed. */
const opening = (options: RoomsOptions): (() => Promise<Rooms>) => {
  let opened: Promise<Rooms> | undefined;
  return () => {
    opened ??= openRooms(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
};

const toolAt = (
  setting: Setting,
  { name = 'run_javascript', labels }: JavascriptToolsOptions,
  atOtherLevels: readonly Tool[] = [],
): Tool =>
  tool<JavascriptInput>({
    name,
    description: describe(setting),
    inputSchema: javascriptInput,
    effect: 'none',
    egress: false,
    timeoutMs: setting.limits.wallMs + TOOL_TIMEOUT_EXTRA_MS,
    ...(labels && { labels }),
    level: setting.level,
    atOtherLevels,
    // What is not repeatable cannot be run again from the start after each call.
    ...(setting.engine === 'quickjs' && { calls: setting.callable }),
    preview: (given) => preview(given, setting),
    execute: (given, context) => execute(given, context, setting),
  });
