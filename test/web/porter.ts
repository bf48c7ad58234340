/** An agent for tests of the window: it says a few words, looks at something for as long as the test wants, and answers. */
import type { Model } from '../../src/model/model.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';

export class Porter {
  readonly agent: Agent;
  #opened = Promise.withResolvers<void>();

  constructor() {
    const look = tool<{ readonly door: number }>({
      name: 'door.look',
      description: 'Looks at a door.',
      effect: 'none',
      approval: 'never',
      inputSchema: { type: 'object', properties: { door: { type: 'integer' } }, required: ['door'] },
      execute: async ({ door }, { signal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve(), { once: true });
        await Promise.race([this.#opened.promise, promise]);
        return { door, state: 'locked' };
      },
    });
    this.agent = defineAgent({
      name: 'porter',
      instructions: 'Look at the doors.',
      model: MODEL,
      tools: [look],
    });
    this.open();
  }

  /** Whatever is looked at, and will be, is seen at once. */
  open(): void {
    this.#opened.resolve();
  }

  /** From now on a look lasts until `open`. */
  shut(): void {
    this.#opened = Promise.withResolvers();
  }
}

const usage = { cacheRead: 800, cacheWrite: 100, input: 10, output: 40 };

const MODEL: Model = {
  definition: { provider: 'scripted', name: 'porter-1', params: {} },
  encoder: neutralEncoder,
  send: async ({ modelCall, onDelta, sleep, signal }) => {
    if (modelCall % 2 === 0) {
      const text = `Door ${modelCall / 2} is locked. `.repeat(3).trim();
      return { kind: 'response', stop: 'end', content: [{ type: 'text', text }], usage, cost: 0.0004 };
    }
    const words = 'I go down and look at the door myself.';
    for (const word of words.split(' ')) {
      onDelta({ type: 'text', text: `${word} ` });
      await sleep(5, signal);
    }
    const args = JSON.stringify({ door: (modelCall + 1) / 2 });
    const call = { type: 'call', label: `look_${modelCall}`, name: 'door.look', args } as const;
    return {
      kind: 'response',
      stop: 'calls',
      content: [{ type: 'text', text: words }, call],
      usage,
      cost: 0.0006,
    };
  },
};
