/** onrecord edit: a call runs with arguments that a person changed. */
import { decodeArguments } from '../../effect/arguments.ts';
import { badInput } from '../../errors.ts';
import { findCall } from '../../session/state.ts';
import { argumentsPatch } from '../../view/arguments.ts';
import type { Command } from '../command.ts';
import { CALL_OPTION, decideFrom, DECISION_EXITS } from '../decision-command.ts';
import { givenOption, givenText } from '../given.ts';
import { diffLines } from '../terminal/diff.ts';

export const edit: Command = {
  name: 'edit',
  summary:
    'Approves a call with other arguments: held against schema and policy, then run; the model is told.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    CALL_OPTION,
    {
      flags: '--digest <digest>',
      description: 'what you saw, as onrecord approvals shows it; at least 8 digits',
    },
    { flags: '--args <json>', description: 'all arguments as JSON, @file, or - for stdin' },
  ],
  example: 'onrecord edit s_7Q2M4K1B --digest b81e44a0 --args @reply.json',
  exits: DECISION_EXITS,
  run: (cli, input) =>
    decideFrom(cli, input, {
      name: 'edit',
      digestRequired: true,
      decision: async () => {
        const given = givenOption(input, 'args');
        if (given === undefined)
          throw badInput('usage', '--args is missing: all arguments, as JSON.', {}, 'onrecord help edit');
        const decoded = decodeArguments(await givenText('args', given));
        if (!decoded.ok) throw badInput('arguments-invalid', decoded.message, { reason: decoded.reason });
        return { do: 'edit', args: decoded.canonical };
      },
      more: ({ state }, { call }, decision) =>
        decision.do === 'edit'
          ? diffLines(argumentsPatch(findCall(state, call)?.args ?? '', decision.args), cli.screen.look)
          : [],
    }),
};
