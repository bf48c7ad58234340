/** onrecord approve: lets a call run with exactly the arguments that were seen. */
import { findCall } from '../../session/state.ts';
import type { Command } from '../command.ts';
import { CALL_OPTION, decideFrom, DECISION_EXITS } from '../decision-command.ts';
import { givenGrant, grantLines } from '../grant.ts';

export const approve: Command = {
  name: 'approve',
  summary: 'Approves a call that waits, with exactly what was seen, and drives the session on.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    CALL_OPTION,
    {
      flags: '--digest <digest>',
      description: 'what you saw, as onrecord approvals shows it; at least 8 digits',
    },
    {
      flags: '--grant <time>',
      description: 'also further calls of this tool in this session, for so long: 15m, 2h, 7d',
    },
    {
      flags: '--same <place>',
      description:
        'with --grant: only where this is the same, as in /to; may be given again; without it all is',
      many: true,
    },
  ],
  example: 'onrecord approve s_7Q2M4K1B --call 3.7.2 --digest b81e44a0',
  exits: DECISION_EXITS,
  run: (cli, input) =>
    decideFrom(cli, input, {
      name: 'approve',
      digestRequired: true,
      decision: ({ state }, { call }) => {
        const grant = givenGrant(input, findCall(state, call)?.args ?? '');
        return { do: 'approve', ...(grant && { grant }) };
      },
      more: (_, { tool }, decision) =>
        decision.do === 'approve' && decision.grant ? grantLines(decision.grant, tool, cli.screen.look) : [],
    }),
};
