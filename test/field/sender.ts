/** An agent that sends once, for cases in which two processes want to drive the same session. */
import { scriptedModel } from '../../src/model/scripted.ts';
import { tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';

export const sender = (send: () => Promise<unknown>): Agent =>
  defineAgent({
    name: 'sender',
    instructions: 'Send it.',
    model: scriptedModel({
      name: 'sender',
      steps: [{ calls: [{ tool: 'send', id: 'c1' }] }, { text: 'ok' }],
    }),
    tools: [
      tool({
        name: 'send',
        description: 'sends',
        inputSchema: { type: 'object' },
        approval: 'never',
        execute: send,
      }),
    ],
  });
