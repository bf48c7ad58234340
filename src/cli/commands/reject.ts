/** onrecord reject: a call does not run, and the model is told why. */
import { makerOf } from '../../event/call-id.ts';
import { resultText } from '../../context/result-text.ts';
import { findCall } from '../../session/state.ts';
import { evolve } from '../../session/evolve.ts';
import type { Command } from '../command.ts';
import { CALL_OPTION, decideFrom, DECISION_EXITS } from '../decision-command.ts';
import { givenOption } from '../given.ts';
import { line } from '../terminal/shown.ts';

export const reject: Command = {
  name: 'reject',
  summary: 'Rejects a call that waits: nothing runs, the model is told the reason, the session goes on.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    CALL_OPTION,
    { flags: '--digest <digest>', description: 'what you saw; without it the question that stands' },
    { flags: '--reason <text>', description: 'why; the model is told' },
  ],
  example: 'onrecord reject s_7Q2M4K1B --call 3.7.2 --reason "Wrong reply address."',
  exits: DECISION_EXITS,
  run: (cli, input) =>
    decideFrom(cli, input, {
      name: 'reject',
      digestRequired: false,
      decision: () => {
        const reason = givenOption(input, 'reason');
        return { do: 'reject', ...(reason !== undefined && { reason }) };
      },
      more: ({ state }, { call, digest }, decision) => {
        const data = { call, digest, decision, by: cli.actor };
        const event = { type: 'approval.decided', data, seq: state.seq + 1, at: state.lastAt } as const;
        const after = findCall(evolve(state, event), call);
        const whom = makerOf(call) === undefined ? 'The model' : 'The call that makes it';
        return after?.closing ? [line`  ${whom} is told: ${resultText(after).text}`] : [];
      },
    }),
};
