/** onrecord measure cache: what a provider's cache keeps, by size of prefix and length of pause, and what it is worth. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { randomId, systemClock, systemRandom } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import type { Rates } from '../../cost/rates.ts';
import { ratesAt } from '../../cost/prices.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { Model } from '../../model/model.ts';
import { planOf, type CacheExperiment, type ExperimentPlan } from '../../suite/cache/experiment.ts';
import { cachePage } from '../../suite/cache/report.ts';
import { runExperiment, type CacheRun, type RunOptions } from '../../suite/cache/run.ts';
import {
  CACHE_RULES,
  JumpClock,
  SIMULATED,
  simulatedModel,
  simulatedPrices,
} from '../../suite/cache/simulated.ts';
import { countOf, formatCost, formatCount, formatDuration, formatShare } from '../../view/format.ts';
import { loadPrices } from '../../worker/priced.ts';
import { sleep } from '../../worker/jobs.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { EMPTY, line, own, SIGN, strong, theirs, whole, type Shown } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

const TURNS_DEFAULT = 4;
const TURNS_MAX = 100;
const BUDGET_USD_DEFAULT = 1;
const BUDGET_USD_MAX = 100_000;
const GAPS_DEFAULT = '1s,1m,4m,6m,20m,60m';
const PREFIX_DEFAULT = '2000,20000';
const PING_DEFAULT = '4m';
const VALUES_MAX = 20;

export const measure: Command = {
  name: 'measure',
  summary: 'Measures what a cache of prefixes keeps and what that is worth, simulated or at a real provider.',
  arguments: [{ name: 'what', description: 'cache', required: true }],
  options: [
    { flags: '--agent <name>', description: 'ask the model of this agent; default a simulated provider' },
    { flags: '--turns <count>', description: 'turns of each session', default: String(TURNS_DEFAULT) },
    { flags: '--gaps <list>', description: 'pauses between turns', default: GAPS_DEFAULT },
    { flags: '--prefix <list>', description: 'tokens of the instructions', default: PREFIX_DEFAULT },
    {
      flags: '--ping <time>',
      description: 'also kept warm by a ping each so often; "none"',
      default: PING_DEFAULT,
    },
    {
      flags: '--budget <usd>',
      description: `spend no more; default ${BUDGET_USD_DEFAULT} at a real provider`,
    },
    {
      flags: '--keep',
      description: 'keep the sessions of a simulated provider in the store, as real ones are',
    },
    { flags: '--dry-run', description: 'print the plan and its price, ask nothing' },
    { flags: '--yes', description: 'spend without being asked again' },
    { flags: '--html <file>', description: 'write the report as a page' },
  ],
  example: 'onrecord measure cache --html cache.html',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.stopped, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    if (input.args[0] !== 'cache')
      throw badInput(
        'usage',
        `"${input.args[0] ?? ''}" cannot be measured. There is cache.`,
        {},
        'onrecord help measure',
      );
    const declared = await declaredOf(cli, input);
    const plan = planOf(declared.experiment, declared.rates);
    if (isGiven(input, 'dryRun')) return showPlan(cli, declared, plan);
    const refused = await mayRun(cli, input, declared, plan);
    if (refused !== undefined) return refused;
    const run = await measured(cli, input, declared);
    return showRun(cli, input, declared, run);
  },
};

type Declared = {
  readonly experiment: CacheExperiment;
  /** Undefined: simulated. */
  readonly model: Model | undefined;
  readonly rates: Rates | undefined;
  readonly budgetUsd: number;
};

const declaredOf = async (cli: Cli, input: Input): Promise<Declared> => {
  const ping = givenOption(input, 'ping') ?? PING_DEFAULT;
  const experiment: CacheExperiment = {
    turns: numberOf(input, 'turns', { min: 2, max: TURNS_MAX }),
    gapsMs: listOf(input, 'gaps').map((text) => msOf('gaps', text)),
    prefixTokens: listOf(input, 'prefix').map((text) => wholeOf('prefix', text)),
    ...(ping !== 'none' && { pingEveryMs: msOf('ping', ping) }),
  };
  const name = givenOption(input, 'agent');
  const budgetUsd =
    givenOption(input, 'budget') === undefined
      ? name === undefined
        ? BUDGET_USD_MAX
        : BUDGET_USD_DEFAULT
      : numberOf(input, 'budget', { min: 0.000001, max: BUDGET_USD_MAX });
  if (name === undefined) return { experiment, model: undefined, rates: CACHE_RULES.rates, budgetUsd };
  const agent = (await cli.config()).agents.find((one) => one.definition.name === name);
  if (!agent)
    throw badInput('agent-not-found', `No agent is called "${name}".`, { agent: name }, 'onrecord agents');
  const { provider, name: model } = agent.definition.model;
  const prices = await loadPrices(await cli.priceOverrides());
  const tokens = Math.max(...experiment.prefixTokens);
  const rates = ratesAt(prices, { provider, model, at: systemClock.now() }, tokens);
  return { experiment, model: agent.model, rates, budgetUsd };
};

const listOf = (input: Input, name: string): readonly string[] => {
  const list = (givenOption(input, name) ?? '').split(',').map((text) => text.trim());
  if (list.length <= VALUES_MAX) return list;
  throw badInput('usage', `--${name} has ${list.length} values, the limit is ${VALUES_MAX}.`);
};

const wholeOf = (name: string, text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw badInput('usage', `--${name} "${text}" is no whole number from 1 up.`, { [name]: text });
};

const numberOf = (
  input: Input,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number => {
  const text = givenOption(input, name) ?? '';
  const value = Number(text);
  if (text !== '' && value >= min && value <= max && (name === 'budget' || Number.isInteger(value)))
    return value;
  throw badInput('usage', `--${name} "${text}" is no number from ${min} to ${max}.`, { [name]: text });
};

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** "30s", "4m", "1h". */
const msOf = (name: string, text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (ms > 0) return ms;
  throw badInput(
    'usage',
    `--${name} "${text}" is no time. It takes seconds, minutes or hours, as in 30s, 4m or 1h.`,
    { [name]: text },
  );
};

const nameOf = ({ model }: Declared): string =>
  model ? `${model.definition.provider} ${model.definition.name}` : `${SIMULATED.provider} ${SIMULATED.name}`;

const planLines = (declared: Declared, plan: ExperimentPlan): readonly Shown[] => {
  const { experiment, budgetUsd, model } = declared;
  return [
    line`${strong(theirs(nameOf(declared)))}`,
    line`  ${countOf(plan.cells, 'session')} of ${countOf(experiment.turns, 'turn')}: prefixes of ${experiment.prefixTokens.map(formatCount).join(', ')} tokens,`,
    line`  pauses of ${experiment.gapsMs.map((ms) => formatDuration(ms)).join(', ')}.`,
    line`  ${countOf(plan.requests, 'request')} and ${countOf(plan.pings, 'ping')}, ${model ? `${formatDuration(plan.ms)} of pauses` : 'no pause is waited for'}.`,
    line`  At most ${plan.usd === undefined ? 'an unknown sum' : formatCost(plan.usd)}, if nothing were reused${model ? `; the budget is ${formatCost(budgetUsd)}` : ', by the rules of the simulation'}.`,
  ];
};

const showPlan = (cli: Cli, declared: Declared, plan: ExperimentPlan): ExitCode => {
  const { screen } = cli;
  if (screen.jsonMode)
    screen.json({
      model: nameOf(declared),
      experiment: declared.experiment,
      plan: { ...plan, usd: plan.usd ?? null },
      budgetUsd: declared.budgetUsd,
    });
  else screen.out(...planLines(declared, plan));
  return EXIT.done;
};

/** A real provider is only asked within a budget, with a known price, and once somebody has said so. */
const mayRun = async (
  cli: Cli,
  input: Input,
  declared: Declared,
  plan: ExperimentPlan,
): Promise<ExitCode | undefined> => {
  const { screen } = cli;
  if (!declared.model) return undefined;
  if (plan.usd === undefined)
    throw badInput(
      'price-unknown',
      `No price is known for ${nameOf(declared)}: what it costs could not be limited. Name it in a price file.`,
    );
  screen.note(...planLines(declared, plan));
  if (isGiven(input, 'yes')) return undefined;
  const answer = await screen.askKey([line`This is paid for. Measure? y yes, n no`], ['y', 'n']);
  if (answer.kind === 'key' && answer.key === 'y') return undefined;
  screen.note(line`${SIGN.cancelled} Nothing was asked. To measure without a question: --yes`);
  return EXIT.stopped;
};

const measured = async (
  cli: Cli,
  input: Input,
  { experiment, model, budgetUsd }: Declared,
): Promise<CacheRun> => {
  const { screen, interrupt } = cli;
  const progress = screen.progress(own('sessions'));
  const common = {
    experiment,
    budgetUsd,
    run: randomId(systemRandom, 8),
    signal: interrupt.signal,
    onProgress: (done: number, all: number) => progress.set({ done, total: all, unit: 'sessions' }),
  };
  try {
    if (model) return await runExperiment({ ...common, model, ...(await real(cli)) });
    const clock = new JumpClock(systemClock);
    return await runExperiment({
      ...common,
      model: simulatedModel(CACHE_RULES, clock),
      clock,
      store: isGiven(input, 'keep') ? await cli.store() : new MemoryLog(),
      prices: simulatedPrices(CACHE_RULES),
      sleep: async (ms) => clock.jump(ms),
    });
  } finally {
    progress.end();
  }
};

const real = async (cli: Cli): Promise<Pick<RunOptions, 'clock' | 'store' | 'prices' | 'sleep'>> => ({
  clock: systemClock,
  store: await cli.store(),
  prices: await loadPrices(await cli.priceOverrides()),
  sleep: (ms) => sleep(systemClock, ms, cli.interrupt.signal),
});

const showRun = (cli: Cli, input: Input, declared: Declared, run: CacheRun): ExitCode => {
  const { screen } = cli;
  const { experiment, rates, model } = declared;
  const page = givenOption(input, 'html');
  const { provider, name } = model?.definition ?? SIMULATED;
  if (page !== undefined)
    writePage(
      page,
      cli.cwd,
      cachePage({
        experiment,
        run,
        provider,
        model: name,
        rates,
        rules: model ? undefined : CACHE_RULES,
        day: screen.day(systemClock.now()),
      }),
    );
  if (screen.jsonMode)
    screen.json({ model: `${provider} ${name}`, simulated: model === undefined, experiment, ...run });
  else screen.out(...resultLines(cli, run), EMPTY, endLine(declared, run));
  if (page !== undefined) screen.note(line`  The page is in ${whole(page)}.`);
  if (run.stopped === undefined) return EXIT.done;
  return run.stopped === 'failed' ? EXIT.failed : EXIT.stopped;
};

const endLine = (declared: Declared, { results, spent, stopped }: CacheRun): Shown => {
  const what = line`${countOf(results.length, 'session')} at ${nameOf(declared)}, ${declared.model ? formatCost(spent) : `${formatCost(spent)} by its rules, nothing was sent`}`;
  return stopped === undefined
    ? line`${SIGN.ok} ${what}.`
    : line`${SIGN.fail} Stopped (${stopped}) after ${what}.`;
};

const share = (value: number | undefined): Shown =>
  theirs(value === undefined ? 'unknown' : formatShare(value, 1));

const resultLines = ({ screen }: Cli, { results }: CacheRun): readonly Shown[] =>
  table(
    [
      { key: 'prefix', title: own('prefix'), align: 'right' },
      { key: 'gap', title: own('pause'), align: 'right' },
      { key: 'warm', title: own('kept warm') },
      { key: 'expected', title: own('expected'), align: 'right', drop: 2 },
      { key: 'read', title: own('read'), align: 'right' },
      { key: 'first', title: own('first token'), align: 'right', drop: 1 },
      { key: 'turn', title: own('a turn'), align: 'right' },
      { key: 'pings', title: own('all pings'), align: 'right' },
    ],
    results.map(({ cell, readShare, expectedShare, firstTokenMs, turnUsd, pingUsd }) => ({
      prefix: theirs(formatCount(cell.prefixTokens)),
      gap: theirs(formatDuration(cell.gapMs)),
      warm: cell.pingEveryMs === undefined ? own('no') : line`each ${formatDuration(cell.pingEveryMs)}`,
      expected: share(expectedShare),
      read: share(readShare),
      first: theirs(formatDuration(firstTokenMs)),
      turn: theirs(formatCost(turnUsd)),
      pings: theirs(formatCost(pingUsd)),
    })),
    { look: screen.look },
  ).lines;

const writePage = (path: string, cwd: string, text: string): void => {
  try {
    writeFileSync(resolve(cwd, path), text);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw badInput('file-not-writable', `--html "${path}" cannot be written (${why}).`, { path, why });
  }
};
