/**
 * What must hold of every request before it is sent, whoever made it: a history that a provider refuses once is
 * refused for ever. A fold over the items, so that a step checks only what is new.
 *
 * Rules: every call is answered by exactly one result, at once and in order; nothing else stands between; ids are
 * unique and plain; no text is empty; arguments are one JSON object; text is well formed.
 */
import { decodeArguments } from '../effect/arguments.ts';
import type { PromptItem } from './encoding.ts';

export type ItemProblem = { readonly code: string; readonly message: string };

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export class ItemCheck {
  readonly #ids = new Set<string>();
  #open: readonly string[] = [];
  #count = 0;
  #problem: ItemProblem | undefined;

  /** The first problem of what was pushed, or that calls wait for their results. */
  get problem(): ItemProblem | undefined {
    if (this.#problem) return this.#problem;
    if (this.#count === 0) return { code: 'request-empty', message: 'It holds nothing that was said.' };
    return this.#open.length === 0
      ? undefined
      : { code: 'result-missing', message: `Call ${this.#open[0] ?? ''} has no result.` };
  }

  push(item: PromptItem): void {
    this.#problem ??= this.#look(item);
    this.#count++;
  }

  #look(item: PromptItem): ItemProblem | undefined {
    if (this.#open.length > 0 && item.kind !== 'results')
      return problem(
        'result-missing',
        `call ${this.#open[0] ?? ''} is not followed by its result`,
        this.#count,
      );
    switch (item.kind) {
      case 'user':
      case 'note':
        return this.#text(item.text);
      case 'assistant':
        return this.#assistant(item);
      case 'results':
        return this.#results(item);
      default:
        return item satisfies never;
    }
  }

  #text(text: string): ItemProblem | undefined {
    if (text === '') return problem('text-empty', 'a text is empty', this.#count);
    return text.isWellFormed() && !text.includes('\0')
      ? undefined
      : problem('text-not-well-formed', 'a text holds NUL or half a surrogate pair', this.#count);
  }

  #assistant({ blocks }: Extract<PromptItem, { kind: 'assistant' }>): ItemProblem | undefined {
    if (this.#count === 0) return problem('answer-first', 'an answer stands before anything was said', 0);
    if (blocks.length === 0) return problem('answer-empty', 'an answer holds nothing', this.#count);
    const open: string[] = [];
    for (const block of blocks) {
      if (block.type === 'text') {
        const found = this.#text(block.text);
        if (found) return found;
      }
      if (block.type !== 'call') continue;
      if (!ID.test(block.id) || this.#ids.has(block.id))
        return problem('call-id', `call id "${block.id}" is not plain or stands twice`, this.#count);
      // The very reading that the conversation has made of them.
      if (!decodeArguments(block.args).ok)
        return problem('call-arguments', `the arguments of call ${block.id} are no JSON object`, this.#count);
      this.#ids.add(block.id);
      open.push(block.id);
    }
    this.#open = open;
    return undefined;
  }

  #results({ results }: Extract<PromptItem, { kind: 'results' }>): ItemProblem | undefined {
    const ids = results.map((result) => result.id);
    const same = ids.length === this.#open.length && ids.every((id, i) => id === this.#open[i]);
    if (!same || ids.length === 0)
      return problem(
        'results-not-of-calls',
        'results do not answer the calls before them, one by one',
        this.#count,
      );
    this.#open = [];
    for (const { text } of results) {
      const found = this.#text(text);
      if (found) return found;
    }
    return undefined;
  }
}

/** The first problem of a whole conversation; undefined where a provider takes it. */
export const checkItems = (items: readonly PromptItem[]): ItemProblem | undefined => {
  const check = new ItemCheck();
  for (const item of items) check.push(item);
  return check.problem;
};

const problem = (code: string, what: string, at: number): ItemProblem => ({
  code,
  message: `Item ${at + 1} of the conversation is not right: ${what}.`,
});
