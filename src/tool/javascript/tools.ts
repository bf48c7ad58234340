/**
 * run_javascript: runs a program that the model wrote, in a room. It has no effect on the world: what it wants done
 * it asks for, and those calls are made by the model's next step, as calls like any other.
 */
import { isOnrecordError } from '../../errors.ts';
import { isJsonObject, type Json } from '../../event/json.ts';
import type { RoomEnd } from '../../room/job.ts';
import { BOUNDARY, type RoomRecord } from '../../room/level.ts';
import { BOOT_MS_MAX } from '../../room/room.ts';
import { openRooms, type RoomRun, type Rooms, type RoomsOptions } from '../../room/rooms.ts';
import { content, type ContentPart, type ToolContent } from '../content.ts';
import type { Preview } from '../preview.ts';
import { tool, ToolError, type OutputLabels, type Tool, type ToolContext } from '../tool.ts';
import { javascriptInput, programOf, type JavascriptInput, type Program } from './input.ts';
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
  readonly paused?: {
    readonly calls: readonly { readonly tool: string; readonly args: Json }[];
    readonly resume: Json;
    readonly next: string;
  };
  readonly console?: {
    readonly text: string;
    readonly droppedLines?: number;
    readonly droppedBytes?: number;
  };
  readonly files?: readonly { readonly name: string; readonly bytes: number }[];
  readonly room: RoomRecord;
};

const NEXT =
  'Call each of these tools with these arguments, in this order. Then run the same code again with the same input, files ' +
  'and tools, and with resume as given here plus one answer for each call.';

const describe = ({ facts, limits }: Rooms, callable: readonly string[]): string =>
  'Runs a JavaScript program and returns what it returns. The code is the body of an async function of `input`, ' +
  '`files` (read, bytes, write, list), `tools` and `console`; it has no import, network, timers or other files. ' +
  (facts.engine === 'quickjs'
    ? 'Date stands still and Math.random repeats, so that the same program gives the same result. '
    : 'It runs in Node with `require`, and is not repeatable. ') +
  (callable.length === 0 || facts.engine === 'node'
    ? ''
    : `A program can ask for other tools with await tools["NAME"](args): ${callable.join(', ')}. It then pauses, and says how to go on. `) +
  `Limits: ${limitWords(limits)}. Level ${facts.level}: ${BOUNDARY[facts.level]}`;

/** What a call is bound to once it was shown: the moment that its clock stands at, and what runs it. */
type Base = { readonly clockMs: number; readonly level: string; readonly guestDigest: string };

const baseOf = (value: Json | undefined): Base | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { clockMs, level, guestDigest } = value;
  if (typeof clockMs !== 'number' || typeof level !== 'string' || typeof guestDigest !== 'string')
    return undefined;
  return { clockMs, level, guestDigest };
};

const preview = (given: JavascriptInput, context: ToolContext, { rooms, callable }: Setting): Preview => {
  const program = programOf(given, callable);
  const { facts } = rooms;
  // The same moment when it is looked at again: otherwise no approval could ever hold.
  const clockMs = given.resume?.clockMs ?? baseOf(context.base)?.clockMs ?? context.now();
  const base: Base = { clockMs, level: facts.level, guestDigest: facts.guestDigest };
  return { ...programPreview(given, program, rooms), base: { ...base } };
};

type Setting = { readonly rooms: Rooms; readonly callable: readonly string[] };

const execute = async (
  given: JavascriptInput,
  context: ToolContext,
  { rooms, callable }: Setting,
): Promise<ToolContent> => {
  const program = programOf(given, callable);
  const shown = baseOf(context.base);
  const { level, guestDigest } = rooms.facts;
  if (shown && (shown.level !== level || shown.guestDigest !== guestDigest))
    throw new ToolError(
      `The call was shown with a room of level ${shown.level}; what runs it here is another one, of level ${level}. It was not run.`,
      { code: 'room-changed' },
    );
  const clockMs = given.resume?.clockMs ?? shown?.clockMs ?? context.now();
  const seed = given.resume?.seed ?? context.idempotencyKey;
  const run = await ranIn(rooms, { ...program, clockMs, seed }, context);
  context.signal.throwIfAborted();
  return resultOf(program, run);
};

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
    if (isOnrecordError(error) && error.code === 'room-unavailable')
      throw new ToolError(`There is no room to run it in. ${error.message}`, {
        code: 'room-unavailable',
        cause: error,
      });
    throw error;
  }
};

const resultOf = (program: Program, { end, record }: RoomRun): ToolContent => {
  const result: JavascriptResult = { ...endOf(program, end, record), ...consoleOf(end), room: record };
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

const endOf = (
  { answers }: Program,
  end: RoomEnd,
  { clockMs, seed }: RoomRecord,
): Pick<JavascriptResult, 'ok' | 'value' | 'error' | 'paused' | 'files'> => {
  switch (end.kind) {
    case 'done': {
      const files = [...end.files].map(([name, bytes]) => ({ name, bytes: bytes.length }));
      return {
        ok: true,
        ...(end.value !== undefined && { value: JSON.parse(end.value) as unknown }),
        ...(files.length > 0 && { files }),
      };
    }
    case 'paused': {
      const calls = end.calls.map(({ tool: name, args }) => ({ tool: name, args: JSON.parse(args) as Json }));
      const known = answers.map(({ tool: name, args, result, error }) => ({
        tool: name,
        args: JSON.parse(args) as Json,
        ...(error === undefined ? { result: JSON.parse(result ?? 'null') as Json } : { error }),
      }));
      return { ok: false, paused: { calls, resume: { clockMs, seed, answers: known }, next: NEXT } };
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
  const { name = 'run_javascript', tools = [], labels } = options;
  const rooms = options.rooms ?? (await openRooms(options));
  const setting: Setting = { rooms, callable: tools };
  return [
    tool<JavascriptInput>({
      name,
      description: describe(rooms, tools),
      inputSchema: javascriptInput,
      effect: 'none',
      egress: false,
      timeoutMs: rooms.limits.wallMs + TOOL_TIMEOUT_EXTRA_MS,
      ...(labels && { labels }),
      preview: (given, context) => preview(given, context, setting),
      execute: (given, context) => execute(given, context, setting),
    }),
  ];
};
