/** onrecord models: which providers are known, which credentials were found, and whether each answers. */
import { systemClock } from '../../clock.ts';
import { countOf, formatDuration } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { isTrouble, listModels, type ModelList, type ProviderRow, type Use } from '../model-list.ts';
import { wrap } from '../terminal/cells.ts';
import { command } from '../terminal/command.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs, type Shown } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

export const models: Command = {
  name: 'models',
  summary: 'Lists the providers of models, which credentials were found, and which agents use them.',
  arguments: [],
  options: [{ flags: '--check', description: 'ask each provider whether it answers; it costs nothing' }],
  example: 'onrecord models',
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  async run(cli, { options }) {
    const check = options['check'] === true;
    const list = await listModels(await cli.config(), { check, clock: systemClock });
    if (cli.screen.jsonMode) cli.screen.json(list);
    else print(cli, list, check);
    return check && list.providers.some(isTrouble) ? EXIT.failed : EXIT.done;
  },
};

const print = ({ screen }: Cli, { providers, others }: ModelList, check: boolean): void => {
  const { lines } = table(
    [
      { key: 'provider', title: own('provider') },
      { key: 'credential', title: own('credential') },
      ...(check ? [{ key: 'answer', title: own('answers') }] : []),
      { key: 'used', title: own('used by'), least: 12, enough: 30 },
      { key: 'at', title: own('at'), drop: 1 },
    ],
    [
      ...providers.map((row) => ({
        provider: strong(row.provider),
        credential: credentialCell(row),
        answer: answerCell(row),
        used: usedCell(row.used),
        at: dim(theirs(row.baseUrl)),
      })),
      ...others.map(({ provider, used }) => ({
        provider: strong(provider),
        credential: dim(own('its own')),
        answer: dim(own('not asked')),
        used: usedCell(used),
        at: dim(own('-')),
      })),
    ],
    { look: screen.look },
  );
  screen.out(...lines);
  const { textColumns, terminal } = screen.look;
  const said = providers
    .flatMap((row) => remarks(row))
    .flatMap((text) => wrap(text, terminal ? textColumns : Infinity));
  if (said.length > 0) screen.out(EMPTY, ...said);
  if (!check) screen.next({ command: command('models', '--check') });
};

const credentialCell = ({ credential }: ProviderRow): Shown => {
  switch (credential.state) {
    case 'found':
      return line`${SIGN.ok} ${theirs(credential.name)}`;
    case 'missing':
      return dim(line`none found`);
    case 'unusable':
      return line`${SIGN.fail} not usable`;
    case 'none-wanted':
      return dim(own('none needed'));
    default:
      return credential satisfies never;
  }
};

const answerCell = ({ answer }: ProviderRow): Shown => {
  if (!answer) return dim(own('not asked'));
  if (answer.kind === 'fails') return line`${SIGN.fail} ${theirs(answer.problem)}`;
  const listed = answer.models.length > 0 ? line`, ${countOf(answer.models.length, 'model')}` : EMPTY;
  return line`${SIGN.ok} ${formatDuration(answer.ms)}${listed}`;
};

const usedCell = (used: readonly Use[]): Shown => {
  if (used.length === 0) return dim(own('-'));
  return theirs(used.map(({ agent, model }) => `${agent} (${model})`).join(', '));
};

/** What does not fit a cell, one provider after the other. */
const remarks = (row: ProviderRow): readonly Shown[] => {
  const { provider, credential, answer, used, unlisted = [] } = row;
  const said: Shown[] = [];
  if (credential.state === 'unusable')
    said.push(line`${SIGN.fail} ${provider}: ${theirs(credential.message)}`);
  if (credential.state === 'missing' && used.length > 0)
    said.push(line`${SIGN.wait} ${provider}: ${theirs(credential.message)}`);
  if (answer?.kind === 'fails') said.push(line`${SIGN.fail} ${provider}: ${theirs(answer.message)}`);
  if (unlisted.length > 0)
    said.push(line`${SIGN.fail} ${provider} does not list ${theirs(unlisted.join(', '))}.`);
  return said;
};
