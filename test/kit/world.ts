/**
 * The world that tools act on. It keeps its own record of what really happened, apart from any log: the oracle
 * for "no effect twice". A call says in its arguments how the world shall behave.
 */
import type { JsonObject } from '../../src/event/json.ts';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { tool, ToolError, type Reconciled, type Tool, type ToolContext } from '../../src/tool/tool.ts';
import { content } from '../../src/tool/content.ts';
import type { FakeClock } from './clock.ts';

export const TOOL_TIMEOUT: number = 1000;

export type Behaviour =
  | 'ok'
  /** The effect takes place and the result comes after the timeout. */
  | 'late'
  /** The effect takes place and no result ever comes. */
  | 'hang'
  /** Nothing takes place. */
  | 'fail'
  | 'retryable'
  /** The effect takes place, then something is thrown. */
  | 'throw'
  | 'weird'
  | 'bytes';

export type Execution = {
  readonly tool: string;
  readonly effect: EffectKind;
  /** Session and position. */
  readonly call: string;
  readonly key: string;
  readonly attempt: number;
  readonly args: JsonObject;
};

type Args = { readonly do?: Behaviour; readonly n?: number };

export class World {
  readonly #clock: FakeClock;
  readonly executions: Execution[] = [];
  readonly asked: string[] = [];
  /** What a reconciliation answers; default is the truth. */
  reconcile: (call: string, happened: boolean) => Reconciled = (_, happened) =>
    happened ? { happened: true, result: 'found' } : { happened: false };

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Executions of one call, or of all of a tool. */
  of(name: string): readonly Execution[] {
    return this.executions.filter((one) => one.tool === name || one.call.endsWith(` ${name}`));
  }

  tool(name: string, effect: EffectKind, options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
    return tool<Args>({
      name,
      description: `the tool ${name}`,
      inputSchema: { type: 'object' },
      effect,
      timeoutMs: TOOL_TIMEOUT,
      retry: { attempts: 2, baseMs: 100, maxMs: 100 },
      execute: (args, context) => this.#execute(name, effect, args, context),
      ...(effect === 'reconcilable' && {
        reconcile: (_: unknown, context: ToolContext) => {
          this.asked.push(context.call);
          return this.reconcile(
            context.call,
            this.executions.some((one) => one.call === context.call),
          );
        },
      }),
      ...options,
    } as Parameters<typeof tool<Args>>[0]);
  }

  #execute(name: string, effect: EffectKind, args: Args, context: ToolContext): unknown {
    const { call, attempt, idempotencyKey: key } = context;
    const happened = (): void => void this.executions.push({ tool: name, effect, call, key, attempt, args });
    switch (args.do) {
      case 'late':
        happened();
        return this.#after(2 * TOOL_TIMEOUT, `late ${args.n ?? ''}`);
      case 'hang':
        happened();
        return new Promise(() => undefined);
      case 'fail':
        throw new ToolError('The world said no.', { code: 'world-said-no' });
      case 'retryable':
        if (attempt > 1) happened();
        if (attempt > 1) return `ok at attempt ${attempt}`;
        throw new ToolError('Not now.', { code: 'not-now', retryable: true });
      case 'throw':
        happened();
        throw new TypeError('half way through');
      case 'weird':
        happened();
        return { big: 12345678901234567890n, nan: Number.NaN, text: '\ud800\0' };
      case 'bytes':
        happened();
        return content(
          { kind: 'text', text: 'a file:' },
          { kind: 'bytes', bytes: Buffer.from('bytes'), type: 'text/plain' },
        );
      default:
        happened();
        return `${name} did ${args.n ?? ''}, ${'and says so at some length '.repeat(3)}`;
    }
  }

  #after(ms: number, value: unknown): Promise<unknown> {
    return new Promise((resolve) => this.#clock.after(ms, () => resolve(value)));
  }
}
