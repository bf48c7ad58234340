/** Reads what comes out of a room: strictly, into plain data of a known shape, bounded by the limits of the job. */
import { isJsonObject, type Json } from '../event/json.ts';
import { parseStrict } from '../event/strict.ts';
import {
  FILE_NAME,
  WHY,
  type Console,
  type RoomEnd,
  type RoomJob,
  type ToolRequest,
  type Why,
} from './job.ts';
import type { Usage } from './level.ts';

/** A program's JSON may be nested deeper than a call's arguments; the strict reader bounds this too. */
const VALUE_DEPTH_MAX = 100;
const MESSAGE_CHARS_MAX = 4000;

const objectOf = (line: string): Record<string, unknown> | undefined => {
  try {
    const value = JSON.parse(line) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The engine's version, or undefined where a room said something else. */
export const readReady = (line: string): string | undefined => {
  const said = objectOf(line);
  const version = said?.['engineVersion'];
  return said?.['t'] === 'ready' && typeof version === 'string' ? version : undefined;
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const consoleOf = (value: unknown, { logBytes }: RoomJob['limits']): Console | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { text, droppedLines, droppedBytes } = value;
  if (typeof text !== 'string' || Buffer.byteLength(text) > logBytes) return undefined;
  if (!isCount(droppedLines) || !isCount(droppedBytes)) return undefined;
  return { text, droppedLines, droppedBytes };
};

const usageOf = (value: unknown, ms: number): Usage | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { ticks, memoryBytes } = value;
  return isCount(ticks) && isCount(memoryBytes) ? { ticks, memoryBytes, ms } : undefined;
};

const filesOf = (
  value: unknown,
  { filesOut, filesOutBytes }: RoomJob['limits'],
): Map<string, Uint8Array> | undefined => {
  if (!isJsonObject(value)) return undefined;
  const files = new Map<string, Uint8Array>();
  let total = 0;
  for (const [name, text] of Object.entries(value)) {
    if (!FILE_NAME.test(name) || typeof text !== 'string') return undefined;
    const bytes = new Uint8Array(Buffer.from(text, 'base64'));
    total += bytes.length;
    files.set(name, bytes);
  }
  return files.size <= filesOut && total <= filesOutBytes ? files : undefined;
};

const callsOf = (value: unknown, { limits, tools }: RoomJob): readonly ToolRequest[] | undefined => {
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.toolCalls) return undefined;
  const calls: ToolRequest[] = [];
  for (const call of value as unknown[]) {
    if (!isJsonObject(call)) return undefined;
    const { tool, args } = call;
    if (typeof tool !== 'string' || !tools.includes(tool)) return undefined;
    if (typeof args !== 'string' || Buffer.byteLength(args) > limits.callBytes) return undefined;
    const read = parseStrict(args);
    if (!read.ok) return undefined;
    calls.push({ tool, args: read.canonical });
  }
  return calls;
};

/** A value is kept as the text that it came as; that it is JSON, and not too deep, is looked at here. */
const valueOf = (value: unknown, { resultBytes }: RoomJob['limits']): string | undefined =>
  typeof value === 'string' &&
  Buffer.byteLength(value) <= resultBytes &&
  parseStrict(value, VALUE_DEPTH_MAX).ok
    ? value
    : undefined;

/** Undefined where it is no answer to this job. */
export const readAnswer = (line: string, job: RoomJob, ms: number): RoomEnd | undefined => {
  const said = objectOf(line);
  if (!said) return undefined;
  const { limits } = job;
  const console = consoleOf(said['console'], limits);
  const usage = usageOf(said['usage'], ms);
  if (!console || !usage) return undefined;
  switch (said['t']) {
    case 'done': {
      const files = filesOf(said['files'], limits);
      if (!files) return undefined;
      if (said['value'] === undefined) return { kind: 'done', files, console, usage };
      const value = valueOf(said['value'], limits);
      return value === undefined
        ? unreadable(console, usage)
        : { kind: 'done', value, files, console, usage };
    }
    case 'suspended': {
      const calls = callsOf(said['calls'], job);
      return calls && { kind: 'suspended', calls, console, usage };
    }
    case 'failed': {
      const { why, message, line: at } = said;
      if (!isWhy(why) || typeof message !== 'string') return undefined;
      const short = message.slice(0, MESSAGE_CHARS_MAX);
      return { kind: 'failed', why, message: short, ...(isCount(at) && { line: at }), console, usage };
    }
    default:
      return undefined;
  }
};

const isWhy = (why: unknown): why is Why => WHY.some((known) => known === why);

const unreadable = (console: Console, usage: Usage): RoomEnd => ({
  kind: 'failed',
  why: 'output',
  message: `The result cannot be kept: it is too large, nested deeper than ${VALUE_DEPTH_MAX}, or has numbers that JSON readers disagree about.`,
  console,
  usage,
});
