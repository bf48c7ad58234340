/** Agents whose calls make calls, for the crash matrix: one that goes the same way each time, and one that does not. */
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAgent, needCalls, scriptedModel, tool, type Agent, type Tool } from '../../src/index.ts';

type Place = { readonly desk: string };

const NUMBER = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
} as const;

const one = (
  name: string,
  effect: 'none' | 'reconcilable' | 'once',
  more: Pick<Parameters<typeof tool<{ n: number }>>[0], 'execute'> &
    Partial<Parameters<typeof tool<{ n: number }>>[0]>,
): Tool => tool<{ n: number }>({ name, description: name, inputSchema: NUMBER, effect, ...more });

export const plainTools = (desk: string): readonly Tool[] => {
  const slip = (n: number): string => join(desk, `slip-${n}`);
  return [
    one('look', 'none', { execute: ({ n }) => n * 2 }),
    one('file', 'reconcilable', {
      approval: 'never',
      reconcile: ({ n }) =>
        existsSync(slip(n)) ? { happened: true, result: `filed ${n}` } : { happened: false },
      execute: ({ n }) => {
        // "wx": a slip that is there is never written over.
        writeFileSync(slip(n), '', { flag: 'wx' });
        return `filed ${n}`;
      },
    }),
    one('send', 'once', {
      execute: ({ n }) => {
        appendFileSync(join(desk, 'sent'), `${n}\n`);
        return `sent ${n}`;
      },
    }),
  ];
};

const agentOf = ({ desk }: Place, errand: Tool): Agent => {
  mkdirSync(desk, { recursive: true });
  return defineAgent({
    name: 'errands',
    instructions: 'Run errands.',
    model: scriptedModel({
      name: 'errands',
      steps: [{ calls: [{ tool: 'errand', args: {} }] }, { text: 'Done.' }],
    }),
    tools: [...plainTools(desk), errand],
  });
};

const CALLS = ['look', 'file', 'send'];

/** Looks, then files two slips at once, then asks whether it may send. */
export const errands = (place: Place): Agent =>
  agentOf(
    place,
    tool({
      name: 'errand',
      description: 'Runs all errands.',
      inputSchema: { type: 'object' },
      effect: 'none',
      calls: CALLS,
      execute: (_, { made }) => {
        if (made.length === 0) return needCalls({ tool: 'look', args: { n: 1 } });
        if (made.length === 1)
          return needCalls({ tool: 'file', args: { n: 2 } }, { tool: 'file', args: { n: 3 } });
        if (made.length === 3) return needCalls({ tool: 'send', args: { n: 4 } });
        return made.map((call) => ('result' in call ? call.result : call.error));
      },
    }),
  );

/** The same, written as a plain function. */
export const plainErrands = (place: Place): Agent =>
  agentOf(
    place,
    tool({
      name: 'errand',
      description: 'Runs all errands.',
      inputSchema: { type: 'object' },
      effect: 'none',
      calls: CALLS,
      execute: (_, { callTool }) => {
        const n = callTool('look', { n: 1 }) as number;
        const filed = [n, n + 1].map((slip) => callTool('file', { n: slip }));
        return [...filed, callTool('send', { n: 4 })];
      },
    }),
  );

/** Planted: what it asks for depends on what it finds when it is run, and so on how often it is run. */
export const fickleErrands = (place: Place): Agent => {
  const tries = join(place.desk, 'tries');
  return agentOf(
    place,
    tool({
      name: 'errand',
      description: 'Runs all errands.',
      inputSchema: { type: 'object' },
      effect: 'none',
      calls: CALLS,
      execute: (_, { callTool }) => {
        appendFileSync(tries, 'x');
        callTool('file', { n: 2 });
        return callTool('send', { n: 4 });
      },
    }),
  );
};
