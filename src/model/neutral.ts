/** The product's own wire form: what the scripted model is sent, plain to read in the record. */
import type { AgentDefinition } from '../event/definition.ts';
import type { Encoder, PromptItem } from '../context/encoding.ts';

export const neutralEncoder: Encoder = {
  name: 'neutral',
  frame(agent: AgentDefinition) {
    const { model, instructions, tools } = agent;
    const offered = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const head = JSON.stringify({ model: model.name, instructions, tools: offered });
    return { head: `${head.slice(0, -1)},"messages":[`, tail: ']}' };
  },
  elements(item: PromptItem) {
    switch (item.kind) {
      case 'user':
        return [JSON.stringify({ role: 'user', content: item.text })];
      case 'note':
        return [JSON.stringify({ role: 'note', content: item.text })];
      case 'assistant':
        return [JSON.stringify({ role: 'assistant', content: item.blocks })];
      case 'results':
        return [JSON.stringify({ role: 'results', content: item.results })];
      default:
        return item satisfies never;
    }
  },
};
