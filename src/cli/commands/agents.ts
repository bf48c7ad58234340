/** onrecord agents: who can be asked to work here. */
import { formatCount } from '../../view/format.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { namedAgent } from '../named-agent.ts';
import { agentJson, showAgent } from '../policy-lines.ts';
import { command } from '../terminal/command.ts';
import { line, own, strong, theirs } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

export const agents: Command = {
  name: 'agents',
  summary: 'Lists the agents of this project, or shows the policy of one: its rules and who is asked.',
  arguments: [{ name: 'agent', description: 'one agent, with its policy', required: false }],
  options: [],
  example: 'onrecord agents',
  exits: [EXIT.done, EXIT.usage],
  async run(cli, { args }) {
    const { screen } = cli;
    const [name] = args;
    if (name !== undefined) return showAgent(cli, await namedAgent(cli, name));
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
    if (all.length === 1 && only)
      screen.next(
        { command: command('tools', only.definition.name) },
        { command: command('agents', only.definition.name) },
      );
    return EXIT.done;
  },
};
