/** onrecord agents: who can be asked to work here. */
import type { Agent } from '../../worker/agent.ts';
import { formatCount } from '../../view/format.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { command } from '../terminal/command.ts';
import { line, own, strong, theirs } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

export const agents: Command = {
  name: 'agents',
  summary: 'Lists the agents of this project: those of the configuration and those in agents/*.yaml.',
  arguments: [],
  options: [],
  example: 'onrecord agents',
  exits: [EXIT.done, EXIT.usage],
  async run(cli) {
    const { screen } = cli;
    const all = (await cli.config()).agents.toSorted((a, b) =>
      a.definition.name < b.definition.name ? -1 : 1,
    );
    if (screen.jsonMode) {
      screen.json(all.map(agentJson));
      return EXIT.done;
    }
    if (all.length === 0) {
      const where = cli.place.file ?? 'onrecord.config.ts';
      screen.note(line`No agent here. Agents come from ${where} and from agents/*.yaml beside it.`);
      return EXIT.done;
    }
    const { lines } = table(
      [
        { key: 'name', title: own('agent') },
        { key: 'model', title: own('model'), least: 8, enough: 24 },
        { key: 'tools', title: own('tools'), align: 'right' },
        { key: 'what', title: own('what it is for'), least: 16 },
      ],
      all.map(({ definition, description }) => ({
        name: strong(definition.name),
        model: theirs(definition.model.name),
        tools: theirs(formatCount(definition.tools.length)),
        what: theirs(description),
      })),
      { look: screen.look },
    );
    screen.out(...lines);
    const [only] = all;
    if (all.length === 1 && only) screen.next({ command: command('tools', only.definition.name) });
    return EXIT.done;
  },
};

const agentJson = ({ definition, description, digest }: Agent): Readonly<Record<string, unknown>> => ({
  name: definition.name,
  description,
  digest,
  model: definition.model,
  tools: definition.tools.map((tool) => tool.name),
  policy: definition.policy,
  limits: definition.limits,
});
