/** The stub tools of a case, and their own count of what took place. */
import type { JsonObject } from '../../src/event/json.ts';
import { tool, type Tool } from '../../src/tool/tool.ts';
import type { FakeClock } from '../kit/clock.ts';
import { millisecondsOf, valueOf, type GivenCase, type GivenTool } from './given.ts';

const schemaOf = ({ schema, required }: GivenTool): JsonObject => {
  const properties = schema?.['properties'] as JsonObject | undefined;
  const named = Object.entries(schema ?? {}).map(([name, type]) => [name, { type }] as const);
  return {
    type: 'object',
    ...(schema && { properties: properties ?? (Object.fromEntries(named) as JsonObject) }),
    ...(required && { required: [...required] }),
  };
};

export type Given = { readonly tool: string; readonly input: unknown; readonly key: string };

export class Stubs {
  readonly effects: Record<string, number> = {};
  /** What the tools were given, in order. */
  readonly given: Given[] = [];
  /** Called when an effect has taken place and nothing is recorded of it. */
  onEffect: () => void = () => undefined;
  readonly #clock: () => FakeClock;

  constructor(clock: () => FakeClock) {
    this.#clock = clock;
  }

  of({ input }: GivenCase): readonly Tool[] {
    return Object.entries(input.tools ?? {}).flatMap(([name, spec]) =>
      spec === 'builtin' ? [] : [this.#stub(name, spec)],
    );
  }

  #count(name: string): void {
    this.effects[name] = (this.effects[name] ?? 0) + 1;
    this.onEffect();
  }

  #stub(name: string, spec: GivenTool): Tool {
    const read = spec.effect === 'read';
    const counts = spec.counts === true || !read;
    return tool({
      name,
      description: `the tool ${name}`,
      inputSchema: schemaOf(spec),
      effect: read ? 'none' : spec.idempotency === 'key' ? 'idempotent' : 'once',
      approval: spec.approval ?? 'never',
      ...(spec.timeout !== undefined && { timeoutMs: millisecondsOf(spec.timeout) }),
      execute: (input: unknown, context) => {
        this.given.push({ tool: name, input, key: context.idempotencyKey });
        return this.#act(name, spec, counts);
      },
    });
  }

  #act(name: string, spec: GivenTool, counts: boolean): unknown {
    const { settles } = spec;
    if (settles === 'never') return new Promise(() => undefined);
    if (settles) {
      const { after, value, effect_at = after } = settles;
      this.#clock().after(millisecondsOf(effect_at), () => void (counts && this.#count(name)));
      return new Promise((resolve) => this.#clock().after(millisecondsOf(after), () => resolve(value)));
    }
    if (counts) this.#count(name);
    if ('throws_js' in spec) throw spec.throws_js === null ? null : valueOf(String(spec.throws_js));
    if (spec.effect_then_throws_js !== undefined) throw valueOf(spec.effect_then_throws_js);
    if (spec.returns_js !== undefined) return valueOf(spec.returns_js);
    return spec.returns_text ?? spec.returns ?? 'ok';
  }
}
