/** onrecord respond: a person answers in place of the tool. */
import { badInput } from '../../errors.ts';
import type { Content } from '../../event/content.ts';
import { parseStrict } from '../../event/strict.ts';
import type { Command, Input } from '../command.ts';
import { CALL_OPTION, decideFrom, DECISION_EXITS } from '../decision-command.ts';
import { givenOption, givenText } from '../given.ts';

export const respond: Command = {
  name: 'respond',
  summary: 'Answers a call in place of its tool: nothing runs, the model gets the answer as the result.',
  arguments: [{ name: 'session', description: 'the session', required: true }],
  options: [
    CALL_OPTION,
    { flags: '--digest <digest>', description: 'what you saw; without it the question that stands' },
    { flags: '--text <text>', description: 'the answer as text, @file, or - for stdin' },
    { flags: '--data <json>', description: 'the answer as JSON, @file, or - for stdin' },
  ],
  example: 'onrecord respond s_7Q2M4K1B --call 3.7.2 --text "Ask again on Monday."',
  exits: DECISION_EXITS,
  run: (cli, input) =>
    decideFrom(cli, input, {
      name: 'respond',
      digestRequired: false,
      decision: async () => ({ do: 'respond', content: [await answerOf(input)] }),
    }),
};

const answerOf = async (input: Input): Promise<Content> => {
  const [text, data] = [givenOption(input, 'text'), givenOption(input, 'data')];
  if ((text === undefined) === (data === undefined))
    throw badInput('usage', 'An answer takes either --text or --data.', {}, 'onrecord help respond');
  if (text !== undefined) return { type: 'text', text: await givenText('text', text) };
  const json = await givenText('data', data ?? '');
  const parsed = parseStrict(json);
  if (parsed.ok) return { type: 'json', text: json.trim() };
  throw badInput('data-invalid', `--data is no JSON: ${parsed.message}.`, { position: parsed.position });
};
