/** onrecord init: a small project that runs at once, without a key and without a network. */
import { relative, resolve } from 'node:path';
import { badInput } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { PROVIDERS, writeProject, type ProviderName } from '../new-project.ts';
import { line, SIGN, theirs, whole } from '../terminal/shown.ts';

export const init: Command = {
  name: 'init',
  summary: 'Writes a small project: one agent, a tool of each effect kind, scenarios and a test.',
  arguments: [{ name: 'folder', description: 'where; "." is this one', required: false }],
  options: [
    {
      flags: '--model <name>',
      description: 'anthropic, openai, or provider/model: what answers once its key is there',
    },
  ],
  example: 'onrecord init my-agent --model anthropic',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  async run(cli, input) {
    const name = input.args[0] ?? (await askedFolder(cli));
    if (name === undefined) return EXIT.interrupted;
    const choice = await modelOf(cli, input);
    if (!choice) return EXIT.interrupted;
    return write(cli, name, choice);
  },
};

type Choice = { readonly provider: ProviderName; readonly model?: string };

const askedFolder = async ({ screen }: Cli): Promise<string | undefined> => {
  if (!screen.canAsk)
    throw badInput(
      'usage',
      'init wants a folder to write to, or "." for this one.',
      {},
      'onrecord help init',
    );
  const answer = await screen.askLine(line`Folder of the new project: `);
  return answer.kind === 'line' ? answer.text.trim() : undefined;
};

const modelOf = async (cli: Cli, input: Input): Promise<Choice | undefined> => {
  const given = givenOption(input, 'model');
  if (given !== undefined) return choiceOf(given);
  const { screen } = cli;
  if (!screen.canAsk) return { provider: 'anthropic' };
  const answer = await screen.askKey(
    [
      line`Which model answers once its key is there? Until then a script does.`,
      line`  a Anthropic   o OpenAI`,
    ],
    ['a', 'o'],
  );
  if (answer.kind !== 'key') return undefined;
  return { provider: answer.key === 'a' ? 'anthropic' : 'openai' };
};

const choiceOf = (given: string): Choice => {
  const [provider = '', ...model] = given.split('/');
  if (!Object.hasOwn(PROVIDERS, provider))
    throw badInput(
      'model-unknown',
      `--model "${given}": init knows ${Object.keys(PROVIDERS).join(' and ')}. Others go into onrecord.config.ts by hand.`,
      { model: given },
      'onrecord help init',
    );
  const name = provider as ProviderName;
  return model.length === 0 ? { provider: name } : { provider: name, model: given };
};

const write = ({ screen, cwd }: Cli, name: string, choice: Choice): ExitCode => {
  const folder = resolve(cwd, name);
  const files = writeProject({ folder, ...choice });
  const place = relative(cwd, folder);
  const { key, model } = PROVIDERS[choice.provider];
  const written = choice.model ?? model;
  if (screen.jsonMode) screen.json({ folder: place || '.', files, model: written, key });
  screen.out(
    line`${SIGN.ok} ${files.length} files in ${place === '' ? 'this folder' : whole(place)}.`,
    line`  A script answers until ${theirs(key)} is set; then ${theirs(written)} does.`,
  );
  const steps = ['npm install', 'npm start', 'npm test'];
  const first = place === '' ? [] : [`cd ${place}`];
  screen.note(line``, ...[...first, ...steps].map((step) => line`  ${whole(step)}`));
  return EXIT.done;
};
