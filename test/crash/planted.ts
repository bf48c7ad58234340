/** Agents with a bug in a tool or in the scenario, which the crash matrix has to find. */
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineAgent,
  scriptedModel,
  tool,
  type Agent,
  type Tool,
  type ToolOptions,
} from '../../src/index.ts';

type Place = { readonly desk: string };

/** An agent that calls one tool, which writes a line to a file. */
const writer = (
  { desk }: Place,
  effect: ToolOptions<unknown>['effect'],
  more: Partial<ToolOptions<Record<string, never>>> = {},
): Agent => {
  mkdirSync(desk, { recursive: true });
  return agentOf([
    tool({
      name: 'write',
      description: 'Writes a line.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      effect: effect ?? 'once',
      approval: 'never',
      execute: () => {
        appendFileSync(join(desk, 'lines'), 'a line\n');
        return 'written';
      },
      ...more,
    }),
  ]);
};

const agentOf = (tools: readonly Tool[], says: string = 'Done.'): Agent =>
  defineAgent({
    name: 'planted',
    instructions: 'Write.',
    model: scriptedModel({
      name: 'planted',
      steps: [{ calls: tools.map(({ name }) => ({ tool: name })) }, { text: says }],
    }),
    tools,
  });

/** Asked what became of a call, it always says that nothing did. */
export const forgetful = (place: Place): Agent =>
  writer(place, 'reconcilable', { reconcile: () => ({ happened: false }) });

/** Asked what became of a call, it always says that it happened. */
export const boastful = (place: Place): Agent =>
  writer(place, 'reconcilable', { reconcile: () => ({ happened: true, result: 'written' }) });

/** Says that twice is as good as once, and it is not. */
export const careless = (place: Place): Agent => writer(place, 'idempotent');

/** Says that it only reads, and it writes. */
export const sly = (place: Place): Agent => writer(place, 'none');

/** As it should be. */
export const honest = (place: Place): Agent =>
  writer(place, 'reconcilable', {
    reconcile: () =>
      existsSync(join(place.desk, 'lines')) ? { happened: true, result: 'written' } : { happened: false },
  });

let runs = 0;

/** Takes another way each time: what a kill at a boundary means is not known. */
export const wandering = ({ desk }: Place): Agent => {
  mkdirSync(desk, { recursive: true });
  const names = runs++ % 2 === 0 ? ['left', 'right'] : ['right', 'left'];
  return agentOf(
    names.map((name) =>
      tool({
        name,
        description: `Goes ${name}.`,
        inputSchema: { type: 'object' },
        effect: 'none',
        execute: () => name,
      }),
    ),
  );
};
