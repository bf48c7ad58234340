/** An agent with its policy: each rule, what it looks at, and how people are asked. */
import type { AskTerms, Policy, PolicyRule } from '../event/definition.ts';
import { formatCount } from '../view/format.ts';
import { askTermsWords, conditionWords } from '../view/terms.ts';
import type { Agent } from '../worker/agent.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { wrap } from './terminal/cells.ts';
import { command } from './terminal/command.ts';
import { fit, type Look } from './terminal/look.ts';
import { concat, dim, EMPTY, line, own, repeat, strong, theirs, type Shown } from './terminal/shown.ts';

export const agentJson = ({ definition, description, digest }: Agent): Readonly<Record<string, unknown>> => ({
  name: definition.name,
  description,
  digest,
  model: definition.model,
  tools: definition.tools.map((tool) => tool.name),
  policy: definition.policy,
  limits: definition.limits,
});

export const showAgent = ({ screen }: Cli, agent: Agent): ExitCode => {
  const { definition, description } = agent;
  if (screen.jsonMode) {
    screen.json(agentJson(agent));
    return EXIT.done;
  }
  const { name, model, tools, policy } = definition;
  screen.out(
    line`${strong(name)}  ${model.name}  ${formatCount(tools.length)} tools`,
    ...(description === '' ? [] : [theirs(description)]),
    EMPTY,
    ...policyLines(policy, screen.look),
  );
  screen.next({ command: command('tools', name) });
  return EXIT.done;
};

const INDENT_CELLS = 5;

const policyLines = ({ rules, ask }: Policy, look: Look): Shown[] => [
  strong(own('Policy')),
  ...(rules.length === 0
    ? [own('  no rules')]
    : rules.flatMap((rule, index) => ruleLines(rule, index + 1, look))),
  own('  else what a tool says of itself; without that reads run and effects are asked about'),
  ...termsLines(ask, own('  However asked: '), look),
];

const ruleLines = (rule: PolicyRule, number: number, look: Look): Shown[] => {
  const { id, do: doing, reason, ask } = rule;
  return [
    line`  ${dim(String(number))}  ${strong(doing)}  ${id}`,
    ...scopeWords(rule).flatMap((words) => indented(theirs(words), look)),
    ...(reason === undefined ? [] : indented(line`“${reason}”`, look)),
    ...termsLines(ask, repeat(' ', INDENT_CELLS), look),
  ];
};

const indented = (shown: Shown, look: Look): Shown[] =>
  wrap(fit(concat(repeat(' ', INDENT_CELLS), shown), look), look.textColumns, {
    hanging: INDENT_CELLS,
    strict: true,
  });

/** What has to be so for a rule to decide; nothing where it decides about every call. */
const scopeWords = ({ tools, effects, egress, seen, when = [] }: PolicyRule): readonly string[] => [
  ...(tools === undefined ? [] : [`tools ${tools.join(', ')}`]),
  ...(effects === undefined ? [] : [`effect ${effects.join(' or ')}`]),
  ...(egress === undefined
    ? []
    : [egress ? 'something can leave through it' : 'nothing can leave through it']),
  ...(seen === undefined ? [] : [`${seen.join(' and ')} text stood in the request`]),
  ...when.map(conditionWords),
];

const termsLines = (ask: AskTerms | undefined, lead: Shown, look: Look): Shown[] => {
  const words = ask === undefined ? '' : askTermsWords(ask);
  if (words === '') return [];
  return wrap(fit(concat(lead, theirs(words)), look), look.textColumns, {
    hanging: INDENT_CELLS,
    strict: true,
  });
};
