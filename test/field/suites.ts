/** Field cases about suites, driven through the command that people run, in a project folder of their own. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { project, ROOT, sessionIn, type Output, type Project } from '../cli/project.ts';
import type { GivenCase, GivenReply, GivenTool } from './given.ts';
import type { Plan } from './plan.ts';

type Side = {
  readonly tools?: Readonly<Record<string, GivenTool>>;
  readonly model: readonly GivenReply[];
};

/** An agent whose tools are those that tools.json says at the moment; each answers "done". */
const AGENT = `
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAgent, scriptedModel, tool } from ${JSON.stringify(join(ROOT, 'src/index.ts'))};

export const clerk = ({ model }) => {
  const given = JSON.parse(readFileSync(join(import.meta.dirname, 'tools.json'), 'utf8'));
  const tools = Object.entries(given).map(([name, { schema = {}, effect = 'write' }]) =>
    tool({
      name,
      description: name,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(schema).map(([key, type]) => [key, { type }])),
      },
      effect: effect === 'read' ? 'none' : 'once',
      approval: 'never',
      execute: () => 'done',
    }),
  );
  return defineAgent({ name: 'clerk', instructions: 'Be exact.', tools, model: model ?? scriptedModel({ name: 'none', steps: [] }) });
};
`;

const stepsOf = (replies: readonly GivenReply[]): readonly object[] =>
  replies.map(({ text, calls, http, repeat }) => ({
    ...(text !== undefined && { text: String(text) }),
    ...(calls && { calls: calls.map(({ tool, args = {} }) => ({ tool, args })) }),
    ...(http && { error: { kind: 'overloaded', status: http.status } }),
    ...(repeat !== undefined && { repeat }),
    cost: 0,
  }));

const scriptText = (name: string, replies: readonly GivenReply[]): string =>
  stringify({ name, steps: stepsOf(replies) });

const scenarioText = (name: string, text: object = {}): string =>
  stringify({ name, agent: '../agent.ts#clerk', turns: ['go'], expect: {}, ...text });

const suiteOf = (tools: unknown): Project =>
  project({ 'agent.ts': AGENT, 'tools.json': JSON.stringify(tools ?? {}) });

const sideOf = ({ input }: GivenCase, name: string): Side => input[name] as Side;

/** Another definition of a tool is said with the request that has it, before the call that differs. */
const drift: Plan = async (given) => {
  const [base, head] = [sideOf(given, 'base'), sideOf(given, 'head')];
  const made = suiteOf(base.tools);
  made.write('scenarios/pay.yaml', scenarioText('pay', { model: { script: '../model.yaml' } }));
  made.write('model.yaml', scriptText('base', base.model));
  expect((await made.onrecord('suite', 'compare', '--update')).code).toBe(0);
  // Held against its own definition it passes, whatever the code says later.
  expect((await made.onrecord('suite', 'compare')).code).toBe(0);
  made.write('tools.json', JSON.stringify(head.tools));
  made.write('model.yaml', scriptText('head', head.model));
  const { code, stdout } = await made.onrecord('suite', 'compare');
  expect(code).toBe(11);
  const told = stdout.indexOf(
    'request 1: the tool pay is changed: inputSchema (/agent/tools/pay/inputSchema)',
  );
  const differs = stdout.search(/baseline +pay/);
  expect(told).toBeGreaterThanOrEqual(0);
  expect(differs).toBeGreaterThan(told);
  expect(stdout).toContain('cause: the tool pay is changed');
};

type Compared = {
  readonly differences: readonly {
    readonly models: readonly string[];
    readonly divergence: {
      readonly cause: string;
      readonly one?: { step?: number };
      readonly other?: { step?: number; what: string };
    };
  }[];
  readonly reordered: readonly {
    readonly models: readonly string[];
    readonly reads: readonly (readonly string[])[];
  }[];
};

/** Reads in another order are listed, a write before its check is a difference. */
const order: Plan = async (given) => {
  const made = suiteOf(given.input.tools);
  made.write('scenarios/go.yaml', scenarioText('go'));
  for (const name of ['base', 'head_1', 'head_2'])
    made.write(`${name}.yaml`, scriptText(name, sideOf(given, name).model));
  const compare = async (
    other: string,
  ): Promise<{ readonly code: number; readonly report: Compared; readonly text: string }> => {
    const words = ['suite', 'compare', '--model', 'base.yaml', '--model', other];
    const { code, stdout } = await made.onrecord(...words, '--json');
    return { code, report: JSON.parse(stdout) as Compared, text: (await made.onrecord(...words)).stdout };
  };
  const one = await compare('head_1.yaml');
  expect([one.code, one.report.differences]).toEqual([0, []]);
  // All reads up to the write are one group.
  const [first, last] = [
    ['search', 'price', 'validate'],
    ['price', 'search', 'validate'],
  ];
  expect(one.report.reordered).toMatchObject([{ reads: [first, last] }]);
  expect(one.text).toContain('go reordered, no difference');
  const two = await compare('head_2.yaml');
  expect(two.code).toBe(11);
  expect(two.report.differences).toMatchObject([
    {
      divergence: {
        cause: 'the order of calls: validate came before write, and now comes after it',
        other: { step: 2, what: 'write' },
      },
    },
  ]);
};

type Scenario = {
  readonly name: string;
  readonly assert: readonly { readonly contains?: string; readonly not_contains?: string }[];
  readonly model: readonly GivenReply[];
};

type Ran = {
  readonly runs: readonly {
    readonly scenario: string;
    readonly verdict: string;
    readonly steps: number;
    readonly problems: readonly { readonly expectation: string; readonly message: string }[];
  }[];
};

const ran = async (
  made: Project,
  ...words: readonly string[]
): Promise<Output & { readonly report: Ran }> => {
  const output = await made.onrecord('suite', 'run', '--json', ...words);
  return { ...output, report: JSON.parse(output.stdout) as Ran };
};

/** A provider that gives no answer makes an errored scenario: nothing is asserted of what is not there. */
const down: Plan = async (given) => {
  const made = suiteOf({});
  const scenarios = given.input['scenarios'] as readonly Scenario[];
  for (const { name, assert, model } of scenarios) {
    const contains = assert.flatMap((one) => one.contains ?? []);
    const lacks = assert.flatMap((one) => one.not_contains ?? []);
    const text = { ...(contains.length > 0 && { contains }), ...(lacks.length > 0 && { lacks }) };
    made.write(
      `scenarios/${name}.yaml`,
      scenarioText(name, { model: { steps: stepsOf(model) }, expect: { text } }),
    );
  }
  const { code, report } = await ran(made);
  const count = (verdict: string): number => report.runs.filter((one) => one.verdict === verdict).length;
  const counts = { passed: count('passed'), failed: count('failed'), errored: count('errored') };
  expect(counts).toEqual(given.expect['counts']);
  expect(report.runs).toHaveLength(scenarios.length);
  expect(code).toBe(8);
  const problems = report.runs.find(({ scenario }) => scenario === 'a')?.problems;
  expect(problems).toMatchObject([{ expectation: 'no-answer', message: expect.stringContaining('503') }]);
};

/** A recording answers the request it was made of; another prompt is a miss, and nobody is asked. */
const stale: Plan = async ({ input, expect: wanted }) => {
  const { recorded, now } = input as unknown as {
    readonly recorded: {
      readonly request: { readonly system: string };
      readonly response: { readonly text: string };
    };
    readonly now: { readonly system: string };
  };
  const { system } = recorded.request;
  const made = project({
    'agents/clerk.yaml': stringify({ instructions: system, model: { scripted: 'script.yaml' } }),
    'script.yaml': stringify({ name: 's', steps: [{ text: recorded.response.text, cost: 0 }] }),
  });
  const session = sessionIn((await made.onrecord('run', 'clerk', 'go')).stdout);
  expect((await made.onrecord('suite', 'record', session, '--out', 'scenarios/real.yaml')).code).toBe(0);
  expect((await made.onrecord('suite', 'run')).code).toBe(0);
  made.write(
    'agents/clerk.yaml',
    stringify({ instructions: now.system, model: { scripted: 'script.yaml' } }),
  );
  const { code, report } = await ran(made);
  expect(code).not.toBe(0);
  const [problem] = report.runs[0]?.problems ?? [];
  expect(problem?.expectation.replace('-', '_')).toBe(wanted['reason']);
  expect(problem?.message).toContain('the nearest one differs at system, offset 8');
  expect(problem?.message).toContain('record it anew: onrecord suite record');
  // Nothing was asked: there is not even a request on record.
  expect(report.runs[0]?.steps).toBe(0);
};

export const SUITES: Readonly<Record<string, Plan>> = {
  'FC-106': drift,
  'FC-121': order,
  'FC-123': down,
  'FC-128': stale,
};
