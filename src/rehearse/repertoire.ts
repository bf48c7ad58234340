/**
 * What the record can answer: every call of it, by tool and canonical arguments, each occurrence once and in order.
 * A tool that only reads may be asked more often than it was: it then says what it said last.
 */
import type { EffectKind } from '../event/effect-kind.ts';
import { twin } from '../session/state.ts';
import type { Trace, TracedCall } from './trace.ts';

type Called = Pick<TracedCall, 'tool' | 'args'>;

/** Every call of a trace, those that calls have made among them. */
export const callsIn = ({ turns }: Trace): readonly TracedCall[] =>
  turns.flatMap(({ steps }) => steps.flatMap(({ calls, inner }) => [...calls, ...inner]));

export class Repertoire<T extends Called> {
  readonly #calls = new Map<string, T[]>();
  readonly #taken = new Map<string, number>();

  /** In the order of the record. */
  constructor(calls: readonly T[]) {
    for (const call of calls) {
      const name = twin(call.tool, call.args);
      this.#calls.set(name, [...(this.#calls.get(name) ?? []), call]);
    }
  }

  /** The next recorded occurrence; undefined where the record has no more. */
  take({ tool, args }: Called, effect: EffectKind): T | undefined {
    const name = twin(tool, args);
    const calls = this.#calls.get(name) ?? [];
    const taken = this.#taken.get(name) ?? 0;
    this.#taken.set(name, taken + 1);
    return calls[taken] ?? (effect === 'none' ? calls.at(-1) : undefined);
  }
}
