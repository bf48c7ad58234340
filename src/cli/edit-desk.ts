/** Arguments in the person's editor: checked, compared and confirmed before anything is recorded. */
import type { LogStore } from '../log/store.ts';
import type { Approval } from '../view/approval.ts';
import { argumentsPatch, prettyArguments } from '../view/arguments.ts';
import { tryEdit, type EditTrial } from '../view/consequence.ts';
import { followWords } from '../view/card-words.ts';
import { shortDigest } from '../view/format.ts';
import type { Cli } from './cli.ts';
import { editText } from './editor.ts';
import { Pager } from './pager.ts';
import { readRecord } from './record.ts';
import { wrap } from './terminal/cells.ts';
import { diffLines } from './terminal/diff.ts';
import { fit } from './terminal/look.ts';
import { EMPTY, line, own, SIGN, strong, theirs, whole } from './terminal/shown.ts';

export type Edited =
  | { readonly kind: 'edited'; readonly args: string }
  /** The card goes on as it was. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'interrupted' };

export const editArguments = async (cli: Cli, store: LogStore, approval: Approval): Promise<Edited> => {
  const { screen } = cli;
  let text = `${prettyArguments(approval.args)}\n`;
  for (;;) {
    text = await editText(`${approval.tool.replaceAll(/[^\w.-]/g, '_')}.json`, text);
    const tried = tryEdit(await readRecord(store, approval.session), approval, text, await cli.person());
    if (tried.kind === 'same') {
      screen.note(own('  Nothing was changed.'));
      return { kind: 'kept' };
    }
    const key =
      tried.kind === 'invalid' ? await askRepair(cli, tried.message) : await askEdited(cli, approval, tried);
    if (key === 'interrupted') return { kind: 'interrupted' };
    if (key === 'y' && tried.kind === 'valid') return { kind: 'edited', args: tried.args };
    if (key !== 'e') {
      screen.note(own('  The arguments stay as they were.'));
      return { kind: 'kept' };
    }
  }
};

const askRepair = async ({ screen }: Cli, message: string): Promise<string> => {
  const { noteLook } = screen;
  const lines = wrap(fit(line`${SIGN.fail} ${message}`, noteLook), noteLook.textColumns, {
    hanging: 2,
    strict: true,
  });
  const answer = await screen.askKey(
    [EMPTY, ...lines, line`  ${strong('e')} edit again   ${strong('k')} keep the arguments as they were`],
    ['e', 'k', 'escape', 'q'],
  );
  return answer.kind === 'key' ? answer.key : answer.kind;
};

const askEdited = async (
  { screen }: Cli,
  approval: Approval,
  tried: Extract<EditTrial, { kind: 'valid' }>,
): Promise<string> => {
  const { noteLook } = screen;
  const pager = new Pager(screen, {
    head: [EMPTY, strong(own('Your change'))],
    body: diffLines(argumentsPatch(approval.args, tried.args), noteLook),
    foot: [
      line`New arguments ${whole(shortDigest(tried.digest))}`,
      ...wrap(fit(theirs(followWords(tried.follow)), noteLook), noteLook.textColumns, {
        hanging: 0,
        strict: true,
      }),
    ],
    choices: [
      { key: 'y', words: own('approve with these arguments') },
      { key: 'e', words: own('edit again') },
      { key: 'k', words: own('keep the arguments as they were') },
    ],
    deciding: ['y'],
  });
  const answer = await pager.ask();
  return answer.kind === 'key' ? answer.key : answer.kind;
};
