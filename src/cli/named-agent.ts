/** The agent that a command line names. */
import { badInput, type OnrecordError } from '../errors.ts';
import { nearest } from '../view/nearest.ts';
import type { Agent } from '../worker/agent.ts';
import type { Cli } from './cli.ts';

/** Throws `agent-not-found`. */
export const namedAgent = async (cli: Cli, name: string): Promise<Agent> => {
  const { agents } = await cli.config();
  const found = agents.find((agent) => agent.definition.name === name);
  if (found) return found;
  throw unknownAgent(
    name,
    agents.map((agent) => agent.definition.name),
  );
};

const unknownAgent = (agent: string, known: readonly string[]): OnrecordError => {
  if (known.length === 0)
    return badInput(
      'agent-not-found',
      `No agent is called "${agent}", and none is configured here: agents stand in onrecord.config.ts or in agents/*.yaml, in this folder or one above.`,
      { agent, known },
      'onrecord init my-agent',
    );
  const near = nearest(agent, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return badInput(
    'agent-not-found',
    `No agent is called "${agent}".${meant} Known here: ${known.toSorted().join(', ')}.`,
    { agent, known },
    'onrecord agents',
  );
};
