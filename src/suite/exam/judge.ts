/** Holds what a run did against what its scenario expects. */
import { rebuildAll } from '../../context/rebuild.ts';
import { isJsonObject } from '../../event/json.ts';
import { replay } from '../../replay/replay.ts';
import { verify } from '../../replay/verify.ts';
import type { Trace, TracedCall } from '../../rehearse/trace.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { knownCalls } from '../../session/state.ts';
import { cacheReuse } from '../../view/cache-reuse.ts';
import { PROGRAM } from '../../worker/program.ts';
import { argsOf, callsOfStep, endOf, isWrite } from './deeds.ts';
import { holds, listOf, type Bound, type CallPattern, type Expect } from './expect.ts';
import { judgeWorld } from './judge-world.ts';
import type { Playing } from './play.ts';

/** An expectation that does not hold: its name in the scenario, and a sentence. */
export type Problem = { readonly expectation: string; readonly message: string };

export type Judged = Pick<
  Playing,
  'session' | 'events' | 'log' | 'agent' | 'desk' | 'executed' | 'changed'
> & {
  readonly trace: Trace;
};

export const judge = async (expect: Expect, run: Judged): Promise<readonly Problem[]> => [
  ...judgeCalls(expect, run),
  ...judgeEnd(expect, run),
  ...(await judgeSpent(expect, run)),
  ...judgeWorld(expect, run),
  ...(await judgeProof(run)),
];

/** Those of the model and those that its calls made, in the order in which they were proposed. */
export const callsOf = ({ turns }: Trace): readonly TracedCall[] =>
  turns.flatMap(({ steps }) => steps.flatMap(callsOfStep));

const problem = (expectation: string, message: string): Problem => ({ expectation, message });

const judgeCalls = (expect: Expect, run: Judged): readonly Problem[] => {
  const calls = callsOf(run.trace);
  const { definition } = run.agent;
  const found: Problem[] = [];
  for (const tool of expect.never ?? [])
    for (const call of calls.filter((one) => one.tool === tool))
      found.push(problem('never', `${tool} was asked for, call ${call.id}`));
  for (const [first, second] of expect.before ?? []) {
    const [one, other] = [first, second].map((tool) => calls.findIndex((call) => call.tool === tool));
    if (one === undefined || one < 0) found.push(problem('before', `${first} was not called`));
    else if (other !== undefined && other >= 0 && other < one)
      found.push(problem('before', `${second} was called before ${first}`));
  }
  const { calls: patterns } = expect;
  if (!patterns) return found;
  const write = (pattern: CallPattern): boolean => isWrite(definition, toolIn(pattern));
  switch (expect.match) {
    case 'strict':
      return [...found, ...inOrder(patterns, calls)];
    case 'subset':
      return [...found, ...somewhere(patterns, calls)];
    case 'ordered-writes':
      return [
        ...found,
        ...inOrder(
          patterns.filter(write),
          calls.filter(({ tool }) => isWrite(definition, tool)),
        ),
        ...somewhere(
          patterns.filter((one) => !write(one)),
          calls,
        ),
      ];
    default:
      return expect.match satisfies never;
  }
};

const toolIn = (pattern: CallPattern): string => (typeof pattern === 'string' ? pattern : pattern.tool);

/** What about the call is not as it should be; empty where all is. */
const misfit = (pattern: CallPattern, call: TracedCall): string => {
  if (call.tool !== toolIn(pattern)) return `it is ${call.tool}`;
  if (typeof pattern === 'string') return '';
  const args = argsOf(call.args);
  const { args: wanted, contains = {}, end } = pattern;
  if (wanted && !holds(wanted, args)) return `its arguments are ${call.args}`;
  for (const [name, words] of Object.entries(contains)) {
    const value = isJsonObject(args) ? args[name] : undefined;
    if (typeof value !== 'string' || !value.includes(words)) return `"${words}" is not in its ${name}`;
  }
  const ended = endOf(call.closing);
  return end === undefined || ended.split(' ')[0] === end ? '' : `it ended as ${ended}`;
};

const inOrder = (patterns: readonly CallPattern[], calls: readonly TracedCall[]): readonly Problem[] => {
  for (const [i, pattern] of patterns.entries()) {
    const call = calls[i];
    if (!call)
      return [
        problem('calls', `${ordinal(i)} ${toolIn(pattern)} is missing: there were ${calls.length} calls`),
      ];
    const wrong = misfit(pattern, call);
    if (wrong !== '')
      return [problem('calls', `${ordinal(i)} should be ${toolIn(pattern)}: ${wrong} (call ${call.id})`)];
  }
  const more = calls[patterns.length];
  return more
    ? [problem('calls', `${more.tool} was called beside those expected (call ${more.id}, ${more.args})`)]
    : [];
};

const ordinal = (i: number): string => `call ${i + 1} of the list`;

const somewhere = (patterns: readonly CallPattern[], calls: readonly TracedCall[]): readonly Problem[] => {
  const left = [...calls];
  return patterns.flatMap((pattern) => {
    const at = left.findIndex((call) => misfit(pattern, call) === '');
    if (at >= 0) {
      left.splice(at, 1);
      return [];
    }
    const of = left.filter((call) => call.tool === toolIn(pattern));
    const near = of.find((call) => misfit(pattern, call).startsWith('it ended')) ?? of[0];
    const why = near ? `: ${misfit(pattern, near)} (call ${near.id})` : '';
    return [problem('calls', `${toolIn(pattern)} was not called as expected${why}`)];
  });
};

const sameList = (
  name: string,
  expected: readonly string[] | undefined,
  found: readonly string[],
): readonly Problem[] => {
  if (expected === undefined || expected.join('\n') === found.join('\n')) return [];
  return [problem(name, `expected ${shown(expected)}, found ${shown(found)}`)];
};

const shown = (list: readonly string[]): string => (list.length === 0 ? 'none' : list.join(', '));

const judgeEnd = (expect: Expect, run: Judged): readonly Problem[] => {
  const { trace, events, executed, changed } = run;
  const calls = callsOf(trace);
  const toolOf = (id: string): string => calls.find((call) => call.id === id)?.tool ?? '';
  const asked = events.flatMap((event) =>
    event.type === 'approval.requested' ? [toolOf(event.data.call)] : [],
  );
  const outcomes = trace.turns.map(({ outcome }, i) => outcome ?? withdrawn(run, i + 1));
  const wanted =
    typeof expect.outcome === 'string' ? outcomes.map(() => String(expect.outcome)) : expect.outcome;
  const reason = trace.turns.at(-1)?.reason;
  const answer = trace.turns.at(-1)?.answer ?? '';
  const waiting = openCalls(run, 'asking');
  return [
    ...sameList('outcome', wanted, outcomes).map((one) => ({
      ...one,
      message: `${one.message}${whyEnded(events)}`,
    })),
    ...(expect.reason === undefined || expect.reason === reason
      ? []
      : [problem('reason', `expected ${expect.reason}, found ${reason ?? 'none'}`)]),
    ...sameList(
      'effects',
      expect.effects,
      executed.map(({ tool }) => tool),
    ),
    ...sameList('asked', expect.asked, asked),
    ...sameList('changed', expect.changed?.toSorted(), changed),
    ...sameList('waiting', expect.waiting, waiting),
    ...sameList('inDoubt', expect.inDoubt, openCalls(run, 'in-doubt')),
    ...listOf(expect.text?.contains)
      .filter((words) => !answer.includes(words))
      .map((words) => problem('text', `the answer does not hold "${words}": ${answer}`)),
    ...listOf(expect.text?.lacks)
      .filter((words) => answer.includes(words))
      .map((words) => problem('text', `the answer holds "${words}"`)),
  ];
};

/** What the last turn says of its own end. */
const whyEnded = (events: Judged['events']): string => {
  const end = events.findLast(({ type }) => type === 'turn.ended');
  const message = end?.type === 'turn.ended' ? end.data.message : undefined;
  return message === undefined ? '' : `: ${message}`;
};

const withdrawn = ({ events }: Judged, turn: number): string =>
  events.some((event) => event.type === 'turn.withdrawn' && event.data.turn === turn) ? 'withdrawn' : 'open';

/** Tools of calls that stand open at the end. */
const openCalls = ({ session, events }: Judged, phase: 'asking' | 'in-doubt'): readonly string[] => {
  return knownCalls(events.reduce(evolve, initial(session)))
    .filter((call) => call.phase === phase)
    .map(({ tool }) => tool);
};

const inBound = (name: string, bound: Bound | undefined, found: number | undefined): readonly Problem[] => {
  if (bound === undefined) return [];
  const { atMost, atLeast } = typeof bound === 'number' ? { atMost: bound, atLeast: bound } : bound;
  if (found === undefined) return [problem(name, 'it is not known')];
  // Sums of US dollars are not exact.
  const close = 1e-9;
  if (atMost !== undefined && found > atMost + close)
    return [problem(name, `expected at most ${atMost}, found ${found}`)];
  if (atLeast !== undefined && found < atLeast - close)
    return [problem(name, `expected at least ${atLeast}, found ${found}`)];
  return [];
};

const judgeSpent = async (expect: Expect, run: Judged): Promise<readonly Problem[]> => {
  const { cost, requests } = run.trace.spent;
  const found = [...inBound('cost', expect.cost, cost), ...inBound('steps', expect.steps, requests)];
  if (expect.cacheBreaks === undefined) return found;
  const rebuilt = rebuildAll(run.events, (digest) => run.log.blob(digest));
  const rows = await cacheReuse(run.session, run.events, rebuilt, { prices: { priceOf: () => undefined } });
  return [
    ...found,
    ...inBound('cacheBreaks', expect.cacheBreaks, rows.filter(({ causes }) => causes.length > 0).length),
  ];
};

/** Whatever is expected: the log proves itself, and every decision and request in it comes out again. */
const judgeProof = async ({ session, log, events, agent }: Judged): Promise<readonly Problem[]> => {
  const findings = (await verify(log, session)).findings.map(({ message }) => problem('proof', message));
  const { difference } = replay({ session, events, encoderOf: () => agent.model.encoder, program: PROGRAM });
  if (!difference) return findings;
  const { seq, type, path } = difference;
  return [...findings, problem('proof', `replay differs at event ${seq}: ${type} ${path}`)];
};
