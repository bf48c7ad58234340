/**
 * What the record can answer: every call of it, by tool and canonical arguments, each occurrence once and in order.
 * A tool that only reads may be asked more often than it was: it then says what it said last.
 */
import type { EffectKind } from '../event/effect-kind.ts';
import { twin } from '../session/state.ts';
import type { Trace, TracedCall } from './trace.ts';

export class Repertoire {
  readonly #calls = new Map<string, TracedCall[]>();
  readonly #taken = new Map<string, number>();

  constructor({ turns }: Trace) {
    for (const { steps } of turns)
      for (const { calls, inner } of steps)
        for (const call of [...calls, ...inner]) {
          const name = twin(call.tool, call.args);
          this.#calls.set(name, [...(this.#calls.get(name) ?? []), call]);
        }
  }

  /** The next recorded occurrence; undefined where the record has no more. */
  take({ tool, args }: Pick<TracedCall, 'tool' | 'args'>, effect: EffectKind): TracedCall | undefined {
    const name = twin(tool, args);
    const calls = this.#calls.get(name) ?? [];
    const taken = this.#taken.get(name) ?? 0;
    this.#taken.set(name, taken + 1);
    return calls[taken] ?? (effect === 'none' ? calls.at(-1) : undefined);
  }
}
