/** onrecord tools: what an agent's hands can do, and what each asks for. */
import type { ToolDefinition } from '../../event/definition.ts';
import { formatDuration } from '../../view/format.ts';
import { inputSummary } from '../../view/schema-summary.ts';
import type { Agent } from '../../worker/agent.ts';
import type { Command } from '../command.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit-code.ts';
import { namedAgent } from '../named-agent.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs, type Shown } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

export const tools: Command = {
  name: 'tools',
  summary: 'Lists the tools of an agent, or of all: effect, approval, time limit, labels, arguments.',
  arguments: [{ name: 'agent', description: 'one agent only', required: false }],
  options: [],
  example: 'onrecord tools',
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  async run(cli, { args }) {
    const { screen } = cli;
    const chosen = await agentsOf(cli, args[0]);
    if (screen.jsonMode) {
      screen.json(
        chosen.map(({ definition: { name, tools: all, setAside } }) => ({
          agent: name,
          tools: all,
          ...(setAside && { setAside }),
        })),
      );
      return EXIT.done;
    }
    for (const [index, { definition }] of chosen.entries()) {
      if (index > 0) screen.out(EMPTY);
      if (chosen.length > 1) screen.out(line`${strong(definition.name)}`);
      if (definition.tools.length === 0) screen.out(dim(line`  no tools`));
      else screen.out(...toolTable(screen.look, definition.tools));
      for (const { name, message } of definition.setAside ?? [])
        screen.out(line`  ${SIGN.cancelled} ${theirs(name)} is set aside: ${theirs(message)}`);
    }
    if (chosen.length === 0) screen.note(line`No agent here, so no tools.`);
    return EXIT.done;
  },
};

const agentsOf = async (cli: Cli, name: string | undefined): Promise<readonly Agent[]> =>
  name === undefined
    ? (await cli.config()).agents.toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1))
    : [await namedAgent(cli, name)];

const APPROVALS: Readonly<Record<ToolDefinition['approval'], string>> = {
  policy: 'by policy',
  always: 'always',
  never: 'never',
};

const toolTable = (look: Parameters<typeof table>[2]['look'], all: readonly ToolDefinition[]): Shown[] => [
  ...table(
    [
      { key: 'name', title: own('tool') },
      { key: 'effect', title: own('effect') },
      { key: 'asks', title: own('asks') },
      { key: 'time', title: own('time'), align: 'right', drop: 2 },
      { key: 'labels', title: own('labels'), drop: 1 },
      { key: 'input', title: own('arguments'), least: 12, enough: 16 },
    ],
    all.map((tool) => ({
      name: strong(tool.name),
      effect: theirs(tool.effect),
      asks: theirs(APPROVALS[tool.approval]),
      time: theirs(formatDuration(tool.timeoutMs)),
      labels: theirs(labelsOf(tool)),
      input: theirs(inputSummary(tool.inputSchema)),
    })),
    { look },
  ).lines,
];

/** What its results are, and whether something can leave through its arguments. */
const labelsOf = ({ labels, egress }: ToolDefinition): string =>
  [labels.untrusted ? 'untrusted' : '', labels.private ? 'private' : '', egress ? 'egress' : '']
    .filter((label) => label !== '')
    .join(', ');
