/**
 * A scenario for the crash matrix: an agent on a desk of its own, messages, and what people answer. Written as YAML:
 *
 *   name: inbox/move-a-review
 *   agent: ./agent.ts#inboxAssistant      # a function of { desk } that returns an agent
 *   turns: [ "Move the review." ]
 *   answers: { default: approve, mail.draft: reject }
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { badInput } from '../../errors.ts';
import type { ApprovalDecision } from '../../event/events.ts';
import type { Agent } from '../../worker/agent.ts';

export type Answer = 'approve' | 'reject';

export type CrashScenario = {
  readonly name: string;
  readonly turns: readonly string[];
  /** The agent on a desk: a folder of its own that the function makes, and finds again after a crash. */
  readonly agent: (place: { readonly desk: string }) => Agent | Promise<Agent>;
  readonly answer: (tool: string) => ApprovalDecision;
};

const answer = z.enum(['approve', 'reject']);

const schema = z.strictObject({
  name: z.string().min(1),
  agent: z
    .string()
    .regex(/^[^#]+#[A-Za-z_$][\w$]*$/, 'must be a path and the name of an export: ./agent.ts#name'),
  turns: z.array(z.string().min(1)).min(1),
  answers: z.record(z.string(), answer).default({}),
});

/** Throws `scenario-invalid`. */
export const readScenario = async (path: string): Promise<CrashScenario> => {
  const invalid = (what: string): Error =>
    badInput('scenario-invalid', `${path}: ${what}. A scenario is { name, agent, turns, answers }.`, {
      path,
    });
  const document = parseDocument(readText(path), { uniqueKeys: true });
  const [problem] = document.errors;
  if (problem) throw invalid(problem.message.split('\n', 1)[0] ?? '');
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a scenario'}`);
  }
  const { name, turns, answers } = parsed.data;
  const [file = '', exported = ''] = parsed.data.agent.split('#');
  const module = (await import(pathToFileURL(resolve(dirname(path), file)).href)) as Record<string, unknown>;
  const make = module[exported];
  if (typeof make !== 'function') throw invalid(`${file} exports no function called ${exported}`);
  return {
    name,
    turns,
    agent: make as CrashScenario['agent'],
    answer: (tool) => decisionOf(answers[tool] ?? answers['default'] ?? 'approve'),
  };
};

const decisionOf = (said: Answer): ApprovalDecision =>
  said === 'approve' ? { do: 'approve' } : { do: 'reject', reason: 'The scenario says no.' };

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw badInput('scenario-not-found', `There is no scenario ${path}: ${String(cause)}.`, { path });
  }
};
