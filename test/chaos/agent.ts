/**
 * The agent of the chaos run, and the world that it acts on: a file that keeps each execution, whatever becomes of the
 * process that made it. A tool acts first and takes its time afterwards, so that a process dies with the deed done.
 */
import { appendFileSync } from 'node:fs';
import { scriptedModel } from '../../src/model/scripted.ts';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { tool, type Reconciled, type Tool, type ToolContext } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';
import { linesIn } from '../kit/lines.ts';

/** One execution in the world. `call` is session and position. */
export type Deed = {
  readonly tool: string;
  readonly effect: EffectKind;
  readonly call: string;
  readonly key: string;
  readonly attempt: number;
};

export const deedsIn = (world: string): readonly Deed[] =>
  linesIn(world).map((line) => JSON.parse(line) as Deed);

/** A message with this word in it has its payment asked about. */
export const ASK = 'ASK';
const MODEL_MS = 500;
const TOOL_MS = 500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const chaosAgent = (world: string): Agent => {
  const script = scriptedModel({ name: 'chaos', steps: [] });
  const make = (name: string, effect: EffectKind): Tool =>
    tool({
      name,
      effect,
      description: `the tool ${name}`,
      inputSchema: { type: 'object' },
      execute: async (_: unknown, { call, idempotencyKey: key, attempt }: ToolContext) => {
        appendFileSync(world, `${JSON.stringify({ tool: name, effect, call, key, attempt })}\n`);
        await pause(Math.random() * TOOL_MS);
        return `${name} done`;
      },
      ...(effect === 'reconcilable' && {
        reconcile: (_: unknown, { call }: ToolContext): Reconciled =>
          deedsIn(world).some((deed) => deed.call === call)
            ? { happened: true, result: 'it was done' }
            : { happened: false },
      }),
    });
  return defineAgent({
    name: 'chaos',
    instructions: 'Go on.',
    model: {
      definition: script.definition,
      encoder: script.encoder,
      send: async (request) => {
        const ask = request.body().includes(ASK);
        await request.sleep(Math.random() * MODEL_MS, request.signal);
        const replies = [
          { calls: ['look', 'note', 'move'].map((name) => ({ tool: name, args: {} })) },
          { calls: [{ tool: 'pay', args: { ask } }] },
          { text: 'Done.' },
        ];
        const reply = replies[request.step - 1] ?? { text: 'Done.' };
        return scriptedModel({ name: 'one', steps: [reply] }).send({ ...request, modelCall: 1 });
      },
    },
    tools: [
      make('look', 'none'),
      make('note', 'idempotent'),
      make('move', 'reconcilable'),
      make('pay', 'once'),
    ],
    policy: {
      rules: [
        { id: 'asked', tools: ['pay'], when: [{ at: '/ask', equals: true }], do: 'ask' },
        { id: 'rest', do: 'allow' },
      ],
    },
  });
};
