/** onrecord import: a bundle into the store, checked whole before anything is written. */
import { systemClock, systemRandom } from '../../clock.ts';
import { badInput } from '../../errors.ts';
import { importBundle, refuseUnproved, type Imported } from '../../bundle/import.ts';
import { bundleStore } from '../../bundle/bundle-store.ts';
import { isGone, thisOwner } from '../../log/owner.ts';
import { countOf, shortDigest } from '../../view/format.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import { bundleAt } from '../named-record.ts';
import { prove } from '../store-proof.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, whole, type Shown } from '../terminal/shown.ts';

export const importFile: Command = {
  name: 'import',
  summary: 'Reads a bundle into the store, after everything in it has been checked.',
  arguments: [{ name: 'file', description: 'a bundle, written by onrecord export', required: true }],
  options: [],
  example: 'onrecord import s_7Q2M4K8D.onrecord',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store],
  async run(cli, { args }) {
    const [file = ''] = args;
    const bundle = await bundleAt(cli, file);
    if (!bundle)
      throw badInput('file-not-readable', `There is no file "${file}". Nothing was written.`, { file });
    const { session } = bundle.manifest;
    const verified = await prove(cli, { store: await bundleStore(bundle), session, bundle });
    refuseUnproved(bundle, verified);
    // The store is made where it is not there: a bundle may be the first thing in it.
    const imported = await importBundle(
      await cli.store(),
      { bundle, verified },
      { owner: thisOwner(systemRandom), isGone, now: systemClock.now() },
    );
    const { head, events } = verified;
    if (cli.screen.jsonMode) cli.screen.json({ ...imported, head });
    else
      cli.screen.out(
        said(imported),
        line`  Head ${whole(shortDigest(head))} at event ${events}; hashes, blobs, requests and decisions were checked before.`,
      );
    cli.screen.next({ command: command('show', session), note: line`look at it` });
    return EXIT.done;
  },
};

const said = ({ session, events, outcome }: Imported): Shown => {
  switch (outcome) {
    case 'new':
      return line`${SIGN.ok} ${whole(session)} is in the store now: ${countOf(events, 'event')}.`;
    case 'continued':
      return line`${SIGN.ok} ${whole(session)} was there up to an earlier event: ${countOf(events, 'event')} added.`;
    case 'already-there':
      return line`${SIGN.ok} ${whole(session)} is there already, with the same history. Nothing was written.`;
    default:
      return outcome satisfies never;
  }
};
