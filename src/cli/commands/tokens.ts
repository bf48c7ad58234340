/** onrecord tokens: who may come through the HTTP door. */
import { systemClock, systemRandom } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { DOOR_ROLES, Tokens, type TokenRow } from '../../server/tokens.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption } from '../given.ts';
import { line, SIGN, theirs, type Shown } from '../terminal/shown.ts';

export const tokens: Command = {
  name: 'tokens',
  summary: 'Lists, makes and revokes the tokens of the HTTP door. A token is shown once.',
  arguments: [
    { name: 'action', description: 'list (default), add NAME, revoke ID', required: false },
    { name: 'name', description: 'whose token, or its id', required: false },
  ],
  options: [
    {
      flags: '--roles <roles>',
      description: `with commas: ${DOOR_ROLES.join(', ')}, or roles that policies name`,
    },
    { flags: '--tenant <tenant>', description: 'sees only this tenant' },
    { flags: '--program', description: 'belongs to a program, not to a person' },
    { flags: '--days <number>', description: 'runs out after so many days' },
  ],
  example: 'onrecord tokens add ada --roles read,approve',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const registry = new Tokens(await cli.store(), systemClock, systemRandom);
    const [action = 'list', name] = input.args;
    switch (action) {
      case 'list':
        return list(cli, await registry.list());
      case 'add':
        return add(cli, registry, input, needed(name, 'add'));
      case 'revoke':
        await registry.revoke(needed(name, 'revoke'), cli.actor);
        cli.screen.out(line`${SIGN.ok} Revoked. Servers know it within a second.`);
        if (cli.screen.jsonMode) cli.screen.json({ revoked: name });
        return EXIT.done;
      default:
        throw badInput(
          'usage',
          `tokens cannot "${action}": list, add NAME or revoke ID.`,
          {},
          'onrecord help tokens',
        );
    }
  },
};

const needed = (value: string | undefined, action: string): string => {
  if (value !== undefined && value !== '') return value;
  throw badInput('usage', `tokens ${action} needs a name.`, {}, 'onrecord help tokens');
};

const DAY_MS: number = 24 * 60 * 60 * 1000;

const add = async (cli: Cli, registry: Tokens, input: Input, name: string): Promise<typeof EXIT.done> => {
  const roles = (givenOption(input, 'roles') ?? 'read').split(',').filter((role) => role !== '');
  const tenant = givenOption(input, 'tenant');
  const days = givenOption(input, 'days');
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    throw badInput('number-invalid', `--days "${days}" is no number of days: a whole number from 1 up.`);
  const { id, token } = await registry.add(
    {
      name,
      roles,
      kind: input.options['program'] === true ? 'program' : 'person',
      ...(tenant !== undefined && { tenant }),
      ...(days !== undefined && { expiresAt: systemClock.now() + Number(days) * DAY_MS }),
    },
    cli.actor,
  );
  cli.screen.out(line`${token}`);
  cli.screen.note(line`${SIGN.ok} Token ${id} for ${theirs(name)}. It is shown this once.`);
  if (cli.screen.jsonMode) cli.screen.json({ id, token });
  return EXIT.done;
};

const list = (cli: Cli, rows: readonly TokenRow[]): typeof EXIT.done => {
  if (cli.screen.jsonMode) cli.screen.json(rows);
  else if (rows.length === 0) cli.screen.out(line`No tokens. onrecord serve makes one for you.`);
  else cli.screen.out(...rows.map(row));
  return EXIT.done;
};

const row = ({ id, name, kind, roles, tenant, expiresAt }: TokenRow): Shown => {
  const where = tenant === undefined ? '' : `, tenant ${tenant}`;
  const until = expiresAt === undefined ? '' : `, until ${new Date(expiresAt).toISOString()}`;
  return line`${id}  ${theirs(name)} (${kind}): ${roles.join(', ')}${where}${until}`;
};
