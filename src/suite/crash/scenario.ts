/**
 * A scenario for the crash matrix: an agent on a desk of its own, messages, and what people answer. Written as YAML:
 *
 *   name: inbox/move-a-review
 *   agent: ./agent.ts#inboxAssistant      # a function of { desk } that returns an agent
 *   turns: [ "Move the review." ]
 *   answers: { default: approve, mail.draft: reject }
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { badInput } from '../../errors.ts';
import type { ApprovalDecision } from '../../event/events.ts';
import type { Agent } from '../../worker/agent.ts';

const TURNS_MAX = 100;

export type Answer = 'approve' | 'reject';

/** A scenario as it is written. */
export type ScenarioText = {
  readonly name: string;
  /** A path beside the scenario, and the name of an export. */
  readonly agent: string;
  readonly turns: readonly string[];
  readonly answers: Readonly<Record<string, Answer>>;
};

export type CrashScenario = {
  readonly name: string;
  readonly turns: readonly string[];
  /** The agent on a desk: a folder of its own that the function makes, and finds again after a crash. */
  readonly agent: (place: { readonly desk: string }) => Agent | Promise<Agent>;
  readonly answer: (tool: string) => ApprovalDecision;
};

const answer = z.enum(['approve', 'reject']);

/** A function of { desk }: "./agent.ts#inboxAssistant". */
const AGENT = /^(?<file>[^#]+)#(?<name>[A-Za-z_$][\w$]*)$/;

export const scenarioSchema: z.ZodType<ScenarioText> = z.strictObject({
  name: z.string().min(1),
  agent: z.string().regex(AGENT, 'must be a path and the name of an export: ./agent.ts#name'),
  turns: z.array(z.string().min(1)).min(1).max(TURNS_MAX),
  answers: z.record(z.string(), answer).default({}),
});

/** Loads the agent's code from beside the scenario's folder. Throws `scenario-invalid`. */
export const loadScenario = async (text: ScenarioText, folder: string): Promise<CrashScenario> => {
  const { name, turns, answers } = text;
  const { file = '', name: exported = '' } = AGENT.exec(text.agent)?.groups ?? {};
  const module = await importAgent(resolve(folder, file), file);
  const make = module[exported];
  if (typeof make !== 'function')
    throw badInput('scenario-invalid', `${file} exports no function called "${exported}".`, {
      file,
      exported,
    });
  return {
    name,
    turns,
    agent: make as CrashScenario['agent'],
    answer: (tool) => decisionOf(answers[tool] ?? answers['default'] ?? 'approve'),
  };
};

const importAgent = async (path: string, file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replaceAll(path, file) : 'unknown reason';
    throw badInput('scenario-invalid', `${file} could not be loaded: ${why.replace(/\.$/, '')}.`, { file });
  }
};

const decisionOf = (said: Answer): ApprovalDecision =>
  said === 'approve' ? { do: 'approve' } : { do: 'reject', reason: 'The scenario says no.' };
