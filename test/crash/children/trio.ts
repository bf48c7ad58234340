/**
 * The agent of these tests: three calls in one step, two that are done at once and one that is not, and a model
 * that is done after them. Everything that happens in the world is told to `tell`, outside of any log.
 */
import type { EffectKind } from '../../../src/event/effect-kind.ts';
import { scriptedModel } from '../../../src/model/scripted.ts';
import { tool, type Reconciled, type ToolContext } from '../../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../../src/worker/agent.ts';

export type Trio = {
  readonly kind: EffectKind;
  /** Told "model TURN.STEP#ATTEMPT", "fast N KEY#ATTEMPT" and "slow 3 KEY#ATTEMPT" when they happen. */
  readonly tell: (line: string) => void;
  /** What becomes of the slow call; by default it is done at once. */
  readonly slow?: (context: ToolContext) => unknown;
  readonly reconcile?: (context: ToolContext) => Reconciled;
  /** Whether the slow call waits for a person. */
  readonly asks?: boolean;
  /** What the model waits for before it answers. */
  readonly model?: (line: string) => Promise<void>;
};

const lineOf = (name: string, n: number, { idempotencyKey, attempt }: ToolContext): string =>
  `${name} ${n} ${idempotencyKey}#${attempt}`;

export const trio = ({ kind, tell, slow, reconcile, asks = false, model }: Trio): Agent => {
  const { definition, encoder } = scriptedModel({ name: 'trio', steps: [] });
  return defineAgent({
    name: 'trio',
    instructions: 'Be exact.',
    policy: {
      rules: [
        ...(asks ? [{ id: 'slow', tools: ['slow'], do: 'ask' as const }] : []),
        { id: 'all', do: 'allow' },
      ],
    },
    tools: [
      tool<{ n: number }>({
        name: 'fast',
        description: 'done at once',
        inputSchema: { type: 'object' },
        effect: 'once',
        execute: ({ n }, context) => (tell(lineOf('fast', n, context)), `fast ${n}`),
      }),
      tool<{ n: number }>({
        name: 'slow',
        description: 'not done at once',
        inputSchema: { type: 'object' },
        effect: kind,
        execute: ({ n }, context) => (tell(lineOf('slow', n, context)), slow ? slow(context) : `slow ${n}`),
        ...(kind === 'reconcilable' && {
          reconcile: ({ n }, context): Reconciled => {
            tell(lineOf('reconcile', n, context));
            return reconcile?.(context) ?? { happened: true, result: `slow ${n} was found` };
          },
        }),
      }),
    ],
    model: {
      definition,
      encoder,
      send: async (request) => {
        const line = `model ${request.turn}.${request.step}#${request.attempt}`;
        tell(line);
        await model?.(line);
        const reply =
          request.step === 1
            ? {
                calls: [
                  { tool: 'fast', args: { n: 1 } },
                  { tool: 'fast', args: { n: 2 } },
                  { tool: 'slow', args: { n: 3 } },
                ],
              }
            : { text: 'Done.' };
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    },
  });
};
