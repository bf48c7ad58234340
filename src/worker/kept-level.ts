/**
 * A session keeps the level at which its programs are bounded: another machine, or another build on this one, may have
 * a better or a worse one, and neither is what the session began with. Where the level that it has is not to be had,
 * its calls fail and say so; nothing falls back.
 */
import { digestOf } from '../event/canonical.ts';
import type { AgentDefinition, ToolDefinition } from '../event/definition.ts';
import type { Tool } from '../tool/tool.ts';
import { toolDefinition, type Agent } from './agent.ts';

const known = new WeakMap<AgentDefinition, { readonly agent: Agent; readonly kept: Agent }>();

/** The agent with its tools at the levels that the session recorded, as far as it has them. */
export const agentFor = (recorded: AgentDefinition, agent: Agent): Agent => {
  const before = known.get(recorded);
  if (before?.agent === agent) return before.kept;
  const kept = keptAgent(recorded, agent);
  known.set(recorded, { agent, kept });
  return kept;
};

const keptAgent = (recorded: AgentDefinition, agent: Agent): Agent => {
  const others = new Map<string, Tool>();
  for (const { name, level } of agent.definition.tools) {
    const had = recorded.tools.find((tool) => tool.name === name)?.level;
    const other =
      had === level ? undefined : agent.tools.get(name)?.atOtherLevels.find((one) => one.level === had);
    if (other) others.set(name, other);
  }
  if (others.size === 0) return agent;
  const tools = agent.definition.tools.map((definition): ToolDefinition => {
    const other = others.get(definition.name);
    return other ? toolDefinition(other) : definition;
  });
  const definition = { ...agent.definition, tools };
  return { ...agent, definition, digest: digestOf(definition), tools: new Map([...agent.tools, ...others]) };
};
