/**
 * Questions to the person at the terminal. Keys typed before a question could be read are thrown away, a
 * paste decides nothing, Enter alone decides nothing, and the terminal is left as it was found.
 */
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../clock.ts';

/** What was typed blindly is thrown away for so long after the question appeared. Ctrl C always counts. */
const INERT_MS = 500;

export type InputStream = NodeJS.ReadableStream & {
  readonly isTTY?: boolean | undefined;
  readonly isRaw?: boolean | undefined;
  setRawMode?: (raw: boolean) => unknown;
};

export type Unanswered =
  /** Ctrl C: end with exit code 130. */
  | { readonly kind: 'interrupted' }
  /** Ctrl D, or the terminal went away. */
  | { readonly kind: 'ended' }
  /** There is nobody to ask: end with the code for waiting and print the command that answers. */
  | { readonly kind: 'nobody' };
export type KeyAnswer = { readonly kind: 'key'; readonly key: string } | Unanswered;
export type LineAnswer = { readonly kind: 'line'; readonly text: string } | Unanswered;

const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';

/** Keys that have names; any other key is its character. */
const KEY_NAMES: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\r': 'enter',
  '\n': 'enter',
  '\u001b': 'escape',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\u001b[A': 'up',
  '\u001b[B': 'down',
  '\u001b[C': 'right',
  '\u001b[D': 'left',
  '\u001b[5~': 'page-up',
  '\u001b[6~': 'page-down',
  '\u001b[H': 'home',
  '\u001b[F': 'end',
};

/** The name of a single key press, or undefined for a paste or an unknown sequence. */
const keyOf = (typed: string): string | undefined => {
  const named = KEY_NAMES[typed];
  if (named !== undefined) return named;
  return Array.from(typed).length === 1 && typed >= ' ' ? typed : undefined;
};

type Listener = {
  /** Called with what was typed once the question is live. */
  readonly typed: (text: string) => void;
  readonly stopped: (why: 'interrupted' | 'ended') => void;
};

/** Puts the terminal in raw mode and listens; the function it returns undoes both. */
const listen = (stdin: InputStream, clock: Clock, listener: Listener): (() => void) => {
  const decoder = new StringDecoder('utf8');
  const wasRaw = stdin.isRaw === true;
  let live = false;
  let turn: NodeJS.Immediate | undefined;
  // A process that was held up reads late what was typed early: it is read, and thrown away, before a key counts.
  const timer = clock.after(INERT_MS, () => (turn = setImmediate(() => (live = true))));
  const onData = (chunk: Buffer | string): void => {
    const typed = typeof chunk === 'string' ? chunk : decoder.write(chunk);
    if (typed.includes(INTERRUPT)) listener.stopped('interrupted');
    else if (live && typed !== '') listener.typed(typed);
  };
  const onEnd = (): void => listener.stopped('ended');
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stdin.on('close', onEnd);
  stdin.on('error', onEnd);
  stdin.setRawMode?.(true);
  stdin.resume();
  return () => {
    timer.cancel();
    clearImmediate(turn);
    stdin.removeListener('data', onData);
    stdin.removeListener('end', onEnd);
    stdin.removeListener('close', onEnd);
    stdin.removeListener('error', onEnd);
    stdin.pause();
    stdin.setRawMode?.(wasRaw);
  };
};

/** Waits for one of `keys`: characters, or names such as `space`, `up`, `escape`. All others do nothing. */
export const askKey = (stdin: InputStream, clock: Clock, keys: readonly string[]): Promise<KeyAnswer> =>
  new Promise((resolve) => {
    let restore: (() => void) | undefined;
    const settle = (answer: KeyAnswer): void => {
      restore?.();
      resolve(answer);
    };
    restore = listen(stdin, clock, {
      stopped: (kind) => settle({ kind }),
      typed: (typed) => {
        if (typed === END_OF_INPUT) return settle({ kind: 'ended' });
        const key = keyOf(typed);
        if (key !== undefined && keys.includes(key)) settle({ kind: 'key', key });
      },
    });
  });

export type LineQuestion = {
  /** Already rendered. */
  readonly prompt: string;
  readonly stderr: NodeJS.WritableStream;
};

/** Suspending would leave the terminal raw; C1 controls of a paste would reach it when echoed. */
const NEVER_ECHOED = /[\u001a\u0080-\u009f]/g;

/** A pasted text of several lines is one answer; only a line feed at its end sends it. */
const echoed = (typed: string): string =>
  typed.replace(NEVER_ECHOED, '').replace(/(?:\r\n|\r|\n)(?=[^])/g, ' ');

/** Asks for one line, again while it is empty. */
export const askLine = (stdin: InputStream, clock: Clock, question: LineQuestion): Promise<LineAnswer> =>
  new Promise((resolve) => {
    const gate = new PassThrough();
    const editor = createInterface({ input: gate, output: question.stderr, terminal: true, historySize: 0 });
    let restore: (() => void) | undefined;
    let settled = false;
    const settle = (answer: LineAnswer): void => {
      if (settled) return;
      settled = true;
      restore?.();
      editor.close();
      gate.destroy();
      if (answer.kind !== 'line') question.stderr.write('\n');
      resolve(answer);
    };
    editor.on('line', (text) => (text.trim() === '' ? editor.prompt() : settle({ kind: 'line', text })));
    editor.on('close', () => settle({ kind: 'ended' }));
    // Raw before the question shows: an early Ctrl C must reach us, not the process.
    restore = listen(stdin, clock, {
      stopped: (kind) => settle({ kind }),
      typed: (typed) => gate.write(echoed(typed)),
    });
    editor.setPrompt(question.prompt);
    editor.prompt();
  });
