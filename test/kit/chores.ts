/** The agent of the kill tests: one tool of each kind, a model that asks for all of them and then is done. */
import type { Agent } from '../../src/worker/agent.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { tool, type Reconciled, type Tool, type ToolContext } from '../../src/tool/tool.ts';

export type Chores = {
  readonly policy: 'run' | 'ask';
  /** Told "NAME KEY attempt N"; what it resolves with is the tool's result. */
  readonly act: (line: string) => Promise<unknown>;
  /** Told "model TURN.STEP#ATTEMPT" before the answer. */
  readonly model: (line: string) => Promise<void>;
  readonly reconcile?: (key: string) => Reconciled;
};

export const CHORES: readonly (readonly [string, EffectKind])[] = [
  ['quick', 'none'],
  ['slow', 'none'],
  ['idempotent', 'idempotent'],
  ['reconcilable', 'reconcilable'],
  ['once', 'once'],
];

export const chores = ({ policy, act, model, reconcile }: Chores): Agent => {
  const script = scriptedModel({ name: 'chores', steps: [] });
  const make = ([name, effect]: readonly [string, EffectKind]): Tool =>
    tool({
      name,
      effect,
      description: `the chore ${name}`,
      inputSchema: { type: 'object' },
      execute: (_: unknown, context: ToolContext) =>
        act(`${name} ${context.idempotencyKey} attempt ${context.attempt}`),
      ...(effect === 'reconcilable' && {
        reconcile: (_: unknown, context: ToolContext): Reconciled =>
          reconcile?.(context.idempotencyKey) ?? { happened: 'unknown', note: 'nobody to ask' },
      }),
    });
  const asked = policy === 'ask' ? CHORES.slice(-1) : CHORES;
  return defineAgent({
    name: 'chores',
    instructions: 'Do every chore once.',
    tools: CHORES.map(make),
    policy: { rules: policy === 'run' ? [{ id: 'all', do: 'allow' }] : [] },
    model: {
      ...script,
      send: async (request) => {
        await model(`model ${request.turn}.${request.step}#${request.attempt}`);
        const calls = asked.map(([name]) => ({ tool: name }));
        const reply = request.step === 1 ? { calls } : { text: 'All chores are done.' };
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    },
  });
};
