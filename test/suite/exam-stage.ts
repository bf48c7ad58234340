/** The shipped suite as candidates, and agents and models that were changed on purpose. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examsFor, OWN_MODEL, readExams, type ModelPlace } from '../../src/cli/exam-files.ts';
import type { ExamRun } from '../../src/suite/exam/exam.ts';
import { runExams } from '../../src/suite/exam/exam.ts';
import type { Candidate } from '../../src/suite/exam/play.ts';
import type { Agent } from '../../src/worker/agent.ts';
import { ROOT } from '../cli/project.ts';

const NO_CONFIG: ModelPlace = { cwd: ROOT, config: async () => ({ agents: [] }) };

/** What a command said beside its result and its progress: a slow machine shows more of that. */
export const complaints = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => line !== '' && !line.includes('◐'))
    .join('\n');

/** A shipped scenario, as it is written. */
export const shipped = async (name: string): Promise<Candidate> => {
  const exams = examsFor(NO_CONFIG, await readExams('examples', ROOT), []);
  const made = exams.find((exam) => exam.name === name)?.candidates.get(OWN_MODEL);
  if (!made) throw new Error(`there is no scenario ${name}`);
  return made();
};

export const runOne = async (candidate: Candidate): Promise<ExamRun> => {
  const candidates = new Map([['one', async () => candidate]]);
  const { runs } = await runExams({ exams: [{ name: candidate.scenario.name, candidates }], jobs: 1 });
  const [run] = runs;
  if (!run) throw new Error('it was not run');
  return run;
};

/** The same scenario, played by an agent that was made otherwise. */
export const planted = (candidate: Candidate, change: (agent: Agent) => Agent): Candidate => ({
  ...candidate,
  agent: async (place) => change(await candidate.agent(place)),
});

type Definition = Agent['definition'];

export const define = (agent: Agent, change: Partial<Definition>): Agent => ({
  ...agent,
  definition: { ...agent.definition, ...change },
});

export const otherPrompt = (agent: Agent): Agent =>
  define(agent, { instructions: `${agent.definition.instructions}\n\nBe brief.` });

/** The code is the same, the model is told another name. */
export const renamed =
  (from: string, to: string) =>
  (agent: Agent): Agent => {
    const tools = agent.definition.tools.map((one) => (one.name === from ? { ...one, name: to } : one));
    const code = [...agent.tools].map(([name, tool]) =>
      name === from ? ([to, { ...tool, name: to }] as const) : ([name, tool] as const),
    );
    return { ...define(agent, { tools }), tools: new Map(code) };
  };

export const withoutRule =
  (id: string) =>
  (agent: Agent): Agent => {
    const { policy } = agent.definition;
    const rules = policy.rules.filter((rule) => rule.id !== id);
    if (rules.length === policy.rules.length) throw new Error(`there is no rule ${id}`);
    return define(agent, { policy: { ...policy, rules } });
  };

/** One digest of all files below a folder. */
export const folderDigest = (folder: string): string => {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort((a, b) =>
    join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1,
  ))
    if (entry.isFile()) hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
  return hash.digest('hex');
};
