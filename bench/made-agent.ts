/** The product's side of the work: an agent whose model and tool answer as work.ts says. It loads nothing of the product. */
import type { Agent, defineAgent, Model, ModelReply, tool, Tool } from '../src/index.ts';
import { ANSWER, INSTRUCTIONS, resultAt, turnAt } from './work.ts';

/** Beyond any measurement: the limits are checked all the same. */
const UNLIMITED = 1_000_000_000;

export type WorkOptions = {
  /** Steps of a session; asked at every one. */
  readonly steps: () => number;
  /** Called when the model is asked, with the step from 0; also for the call after the last step. */
  readonly began?: (step: number) => void;
};

/** What of the product an agent is made with: the source as it lies, or a build of it. */
export type Maker = {
  readonly defineAgent: typeof defineAgent;
  readonly tool: typeof tool;
  readonly encoder: Model['encoder'];
};

const berths = ({ tool }: Maker): Tool =>
  tool<{ readonly step: number }>({
    name: 'berths',
    description: 'Answers a question about the berths from the register.',
    effect: 'none',
    inputSchema: {
      type: 'object',
      properties: {
        question: { type: 'string' },
        mark: { type: 'string' },
        step: { type: 'integer' },
        rows: { type: 'integer', minimum: 1 },
      },
      required: ['question', 'step'],
      additionalProperties: false,
    },
    execute: ({ step }) => resultAt(step),
  });

const replyAt = (step: number): ModelReply => {
  const { text, label, tool: name, args } = turnAt(step);
  return {
    kind: 'response',
    stop: 'calls',
    content: [
      { type: 'text', text },
      { type: 'call', label, name, args: JSON.stringify(args) },
    ],
  };
};

const END: ModelReply = { kind: 'response', stop: 'end', content: [{ type: 'text', text: ANSWER }] };

export const madeAgent = (maker: Maker, { steps, began }: WorkOptions): Agent => {
  const model: Model = {
    definition: { provider: 'bench', name: 'register', params: {} },
    encoder: maker.encoder,
    send: async (request) => {
      const step = request.modelCall - 1;
      began?.(step);
      return step < steps() ? replyAt(step) : END;
    },
  };
  return maker.defineAgent({
    name: 'harbour',
    instructions: INSTRUCTIONS,
    model,
    tools: [berths(maker)],
    limits: { stepsPerTurn: UNLIMITED, turnMs: UNLIMITED },
  });
};
