/** The three example agents, each with its desk below one folder. */
import { join } from 'node:path';
import type { Agent } from '../src/index.ts';
import { bookkeepingClerk } from './bookkeeping-clerk/agent.ts';
import { inboxAssistant } from './inbox-assistant/agent.ts';
import { researchAssistant } from './research-assistant/agent.ts';

export const exampleAgents = (desks: string): readonly Agent[] => [
  inboxAssistant({ desk: join(desks, 'inbox-assistant') }),
  bookkeepingClerk({ desk: join(desks, 'bookkeeping-clerk') }),
  researchAssistant({ desk: join(desks, 'research-assistant') }),
];
