/** All that a program in a room reaches outside itself: its files, its console, its calls; counted and bounded. */
import type { RoomJob, ToolRequest, Why } from '../job.ts';

export type Job = Omit<RoomJob, 'files'> & { readonly files: Readonly<Record<string, string>> };

const NAME_CHARS_SHOWN = 200;
const ARGS_CHARS_SHOWN = 800;
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;

class Stop extends Error {
  readonly why: Why;
  constructor(why: Why, message: string) {
    super(message);
    this.why = why;
  }
}

/** Keys sorted, no white space: equal arguments have one text. */
const canonicalText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonicalText(item)}`).join(',')}}`;
};

/** What the engine's program may reach outside itself, counted and bounded. */
export class Outside {
  readonly out: Map<string, Uint8Array> = new Map();
  readonly requests: ToolRequest[] = [];
  readonly lines: string[] = [];
  droppedLines = 0;
  droppedBytes = 0;
  /** Why the engine is to stop, whatever the program does about it. */
  stop: Stop | undefined;
  readonly #job: Job;
  readonly #in: ReadonlyMap<string, Uint8Array>;
  #logBytes = 0;
  #outBytes = 0;
  #calls = 0;
  #callBytes = 0;

  constructor(job: Job) {
    this.#job = job;
    this.#in = new Map(
      Object.entries(job.files).map(([name, text]) => [name, new Uint8Array(Buffer.from(text, 'base64'))]),
    );
  }

  log(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#logBytes + bytes > this.#job.limits.logBytes) {
      this.droppedLines++;
      this.droppedBytes += bytes;
      return;
    }
    this.#logBytes += bytes;
    this.lines.push(line);
  }

  file(name: string): Uint8Array {
    const bytes = this.out.get(name) ?? this.#in.get(name);
    if (bytes) return bytes;
    throw new Error(
      `There is no file "${name.slice(0, NAME_CHARS_SHOWN)}". There are: ${this.list().join(', ') || 'none'}.`,
    );
  }

  list(): readonly string[] {
    return [...new Set([...this.#in.keys(), ...this.out.keys()])].sort();
  }

  write(name: string, bytes: Uint8Array): void {
    const { filesOut, filesOutBytes } = this.#job.limits;
    if (!NAME.test(name))
      throw new Error(
        `The file name "${name.slice(0, NAME_CHARS_SHOWN)}" must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with none of ".".`,
      );
    const before = this.out.get(name);
    const total = this.#outBytes - (before?.length ?? 0) + bytes.length;
    if (total > filesOutBytes)
      throw new Error(`The files are larger than the limit filesOutBytes ${filesOutBytes}.`);
    if (!before && this.out.size >= filesOut)
      throw new Error(`There are more files than the limit filesOut ${filesOut}.`);
    this.#outBytes = total;
    this.out.set(name, bytes);
  }

  /** The recorded answer, or undefined: the program has to be run again once there is one. */
  call(tool: string, text: string): string | undefined {
    const { toolCalls, callBytes } = this.#job.limits;
    const at = this.#calls++;
    this.#callBytes += Buffer.byteLength(text);
    if (this.stop) return undefined;
    if (at >= toolCalls)
      this.stop = new Stop('calls', `The program made more calls than the limit toolCalls ${toolCalls}.`);
    else if (this.#callBytes > callBytes)
      this.stop = new Stop(
        'calls',
        `The arguments of the calls are larger than the limit callBytes ${callBytes}.`,
      );
    if (this.stop) return undefined;
    const args = canonicalText(JSON.parse(text));
    const answer = this.#job.answers[at];
    if (!answer) {
      this.requests.push({ tool, args });
      return undefined;
    }
    if (answer.tool === tool && answer.args === args)
      return answer.error === undefined ? `v${answer.result ?? 'null'}` : `e${answer.error}`;
    this.stop = new Stop(
      'diverged',
      `Call ${at + 1} of the program is ${tool} with ${args.slice(0, ARGS_CHARS_SHOWN)}; the answer that was given is for ` +
        `${answer.tool} with ${answer.args.slice(0, ARGS_CHARS_SHOWN)}.`,
    );
    return undefined;
  }

  /** Answers that no call asked for. */
  get unused(): number {
    return Math.max(0, this.#job.answers.length - this.#calls);
  }
}
