/** onrecord anchor: the heads of sessions, to be kept where nobody who writes the store can change them. */
import { systemClock } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import type { LogStore } from '../../log/store.ts';
import { anchorText, type AnchoredHead } from '../../replay/anchor.ts';
import { countOf } from '../../view/format.ts';
import { givenKey } from '../anchor-file.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { openNamed } from '../named-record.ts';
import { writeOutput } from '../output-file.ts';
import { allSessions, openRecord } from '../record.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const anchor: Command = {
  name: 'anchor',
  summary: 'Writes down the heads of sessions, signed if you like, to find a rewritten or cut history by.',
  arguments: [{ name: 'session', description: 'one session, or a bundle file', required: false }],
  options: [
    { flags: '--all', description: 'every session of the store' },
    { flags: '-o, --output <file>', description: 'the file; default stdout' },
    { flags: '--key <file>', description: 'an Ed25519 private key (PEM) that signs it' },
    { flags: '--force', description: 'write over a file that is there' },
  ],
  example: 'onrecord anchor --all -o heads.json',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.store],
  async run(cli, input) {
    const [name] = input.args;
    if ((name === undefined) !== isGiven(input, 'all'))
      throw badInput('usage', 'Name one session, or give --all.', {}, 'onrecord help anchor');
    const key = givenKey(cli, input);
    const heads =
      name === undefined ? await allHeads(await openRecord(cli)) : [await headOf(await openNamed(cli, name))];
    const text = anchorText(heads, systemClock.now(), key);
    const output = givenOption(input, 'output');
    const { screen } = cli;
    if (output === undefined) {
      screen.bytes(Buffer.from(text));
      return EXIT.done;
    }
    await writeOutput(cli, { name: output, force: isGiven(input, 'force') }, [text]);
    if (screen.jsonMode) screen.json({ file: output, heads: heads.length, signed: key !== undefined });
    else
      screen.out(
        line`${SIGN.ok} ${whole(output)}: ${countOf(heads.length, 'head')}${key ? ', signed' : ''}. Keep it where the store's writers cannot reach it.`,
      );
    screen.next({
      command: command('verify', ...(name === undefined ? ['--all'] : [name]), '--anchor', output),
      note: line`check against it`,
    });
    return EXIT.done;
  },
};

const allHeads = async (store: LogStore): Promise<readonly AnchoredHead[]> => {
  const heads: AnchoredHead[] = [];
  for (const { session } of await allSessions(store)) heads.push(await headOf({ store, session }));
  return heads;
};

const headOf = async ({
  store,
  session,
}: {
  readonly store: LogStore;
  readonly session: string;
}): Promise<AnchoredHead> => {
  const head = await store.head(session);
  if (!head)
    throw badInput('session-not-found', `No session is called "${session}" in this store.`, { session });
  return { session, ...head };
};
