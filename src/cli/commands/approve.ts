/** onrecord approve: lets a call run with exactly the arguments that were seen. */
import type { Command } from '../command.ts';
import { CALL_OPTION, decideFrom, DECISION_EXITS } from '../decision-command.ts';

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
  ],
  example: 'onrecord approve s_7Q2M4K1B --call 3.7.2 --digest b81e44a0',
  exits: DECISION_EXITS,
  run: (cli, input) =>
    decideFrom(cli, input, {
      name: 'approve',
      digestRequired: true,
      decision: () => ({ do: 'approve' }),
    }),
};
