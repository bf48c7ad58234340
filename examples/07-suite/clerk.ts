/** An agent as a function of its desk and its model, so that scenarios can set both. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, scriptedModel, tool, type Agent, type Model } from '../../src/index.ts';

export const clerk = ({ desk, model }: { readonly desk: string; readonly model?: Model }): Agent =>
  defineAgent({
    name: 'clerk',
    instructions: 'Pay back what is asked for.',
    model: model ?? scriptedModel({ name: 'none', steps: [] }),
    tools: [
      tool({
        name: 'refund.pay',
        description: 'Pays an order back.',
        inputSchema: z.strictObject({ order: z.string(), cents: z.int().positive() }),
        effect: 'once',
        approval: 'always',
        execute: ({ order, cents }) => {
          mkdirSync(desk, { recursive: true });
          appendFileSync(join(desk, 'refunds.log'), `${order} ${cents}\n`);
          return { paid: cents };
        },
      }),
    ],
  });
