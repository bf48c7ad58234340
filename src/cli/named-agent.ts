/** The agent that a command line names. */
import { badInput } from '../errors.ts';
import type { Agent } from '../worker/agent.ts';
import type { Cli } from './cli.ts';

/** Throws `agent-not-found`. */
export const namedAgent = async (cli: Cli, name: string): Promise<Agent> => {
  const { agents } = await cli.config();
  const found = agents.find((agent) => agent.definition.name === name);
  if (found) return found;
  const known = agents.map((agent) => agent.definition.name).sort();
  throw badInput(
    'agent-not-found',
    `No agent is called "${name}". Known here: ${known.length === 0 ? 'none' : known.join(', ')}.`,
    { agent: name },
    'onrecord agents',
  );
};
