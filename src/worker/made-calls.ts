/**
 * What a call's own calls came to, for the attempt that goes on with them: each answer from the record, at its place.
 * A call that differs from the recorded one is an error, and no answer is given for it.
 */
import { canonical, type Digest } from '../event/canonical.ts';
import type { Content } from '../event/content.ts';
import type { ToolRequest } from '../event/events.ts';
import { parseStrict } from '../event/strict.ts';
import { resultText } from '../context/result-text.ts';
import type { LogStore } from '../log/store.ts';
import { innerCalls, type CallState, type SessionState } from '../session/state.ts';
import { NeededCalls, type CallRequest, type MadeCall } from '../tool/calls.ts';
import { ToolError } from '../tool/tool.ts';

export const DIVERGED = 'calls-diverged';

/** Arguments that are shown where two calls differ. */
const ARGS_CHARS_SHOWN = 800;
/** A program may be given more than a model: what was cut for requests comes whole. */
const RESULT_DEPTH_MAX = 100;

/** The closed calls that a call made, in order. Their results are whole, also where requests show a part. */
export const madeCalls = (
  { active }: SessionState,
  call: CallState,
  blob: LogStore['blob'],
): readonly MadeCall[] | Promise<readonly MadeCall[]> => {
  if (!active || call.asked.length === 0) return [];
  const made = innerCalls(active, call.id);
  return Promise.all(
    call.asked.map(async ({ tool, args }, i) => {
      const inner = made[i];
      const content = inner && contentOf(inner);
      if (content) return { tool, args, result: await resultOf(content, blob) };
      return { tool, args, error: inner ? resultText(inner).text : 'This call was not made.' };
    }),
  );
};

type Said = { readonly content: readonly Content[]; readonly whole: Digest | undefined };

const contentOf = ({ closing }: CallState): Said | undefined => {
  switch (closing?.kind) {
    case 'ok':
      return { content: closing.nothing ? [] : closing.content, whole: closing.cut?.whole?.digest };
    case 'responded':
      return { content: closing.content, whole: undefined };
    default:
      return undefined;
  }
};

/** JSON text: of one part what it says, of several parts a list. */
const resultOf = async ({ content, whole }: Said, blob: LogStore['blob']): Promise<string> => {
  const bytes = whole === undefined ? undefined : await blob(whole);
  // Only what is one part is cut as a whole.
  if (bytes && content.length === 1) return jsonOf(Buffer.from(bytes).toString('utf8'));
  const parts = content.map((part) => {
    if (part.type === 'json') return part.text;
    return JSON.stringify(part.type === 'text' ? part.text : { file: { ...part.blob } });
  });
  if (parts.length === 0) return 'null';
  return parts.length === 1 ? (parts[0] ?? 'null') : `[${parts.join(',')}]`;
};

const jsonOf = (text: string): string =>
  parseStrict(text, RESULT_DEPTH_MAX).ok ? text : JSON.stringify(text);

/** The calls of one attempt. */
export class AttemptCalls {
  readonly #made: readonly MadeCall[];
  readonly #needed: CallRequest[] = [];
  #at = 0;
  /** The tool compares by itself. */
  #handedOver = false;
  #diverged: ToolError | undefined;

  constructor(made: readonly MadeCall[]) {
    this.#made = made;
  }

  /** Whether an attempt before this one has made calls. */
  get any(): boolean {
    return this.#made.length > 0;
  }

  /** All answers, for a tool that compares by itself. */
  handOver(): readonly MadeCall[] {
    this.#handedOver = true;
    return this.#made;
  }

  /** The answer to the next call. Throws NeededCalls where there is none yet, ToolError where it is an error. */
  make(wanted: CallRequest): unknown {
    const answer = this.#made[this.#at++];
    if (!answer) {
      this.#needed.push(wanted);
      throw new NeededCalls([wanted]);
    }
    const args = canonical(wanted.args);
    if (answer.tool !== wanted.tool || answer.args !== args) {
      this.#diverged = diverged(
        `Call ${this.#at} is now ${wanted.tool} with ${args.slice(0, ARGS_CHARS_SHOWN)}; ` +
          `the recorded one was ${answer.tool} with ${answer.args.slice(0, ARGS_CHARS_SHOWN)}.`,
      );
      throw this.#diverged;
    }
    if ('error' in answer) throw new ToolError(answer.error, { code: 'inner-call-failed' });
    return JSON.parse(answer.result) as unknown;
  }

  /** The calls that the attempt ended for want of; undefined where it came to an end. Throws ToolError: it diverged. */
  needed(ended: unknown): readonly ToolRequest[] | undefined {
    if (this.#diverged) throw this.#diverged;
    // A tool may have swallowed what was thrown at it, and gone on without an answer.
    const calls = ended instanceof NeededCalls ? ended.calls : this.#needed;
    if (ended instanceof NeededCalls && calls.length === 0)
      throw new ToolError('The tool waits for calls and names none.', { code: 'calls-none' });
    if (calls.length > 0) return calls.map(({ tool, args }) => ({ tool, args: canonical(args) }));
    const unused = this.#made.length - this.#at;
    if (unused > 0 && !this.#handedOver)
      throw diverged(`It made ${unused} calls before that it does not make now.`);
    return undefined;
  }
}

const diverged = (message: string): ToolError =>
  new ToolError(`${message} The calls that it made before stay as they are.`, { code: DIVERGED });
