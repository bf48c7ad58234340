/** onrecord export: a session as one file that another machine can check, or as a page that anybody can open. */
import { resolve } from 'node:path';
import { badInput, OnrecordError } from '../../errors.ts';
import { bundleLines, type Redacted } from '../../bundle/write.ts';
import type { Verified } from '../../replay/verify.ts';
import { countOf, formatBytes } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { openNamed, type NamedRecord } from '../named-record.ts';
import { refuseExisting, writeOutput } from '../output-file.ts';
import { redactedBy } from '../redaction.ts';
import { prove } from '../store-proof.ts';
import { command } from '../terminal/command.ts';
import { line, SIGN, whole } from '../terminal/shown.ts';

export const exportSession: Command = {
  name: 'export',
  summary: 'Writes a session as one file: a bundle that proves itself anywhere, or a page to read.',
  arguments: [{ name: 'session', description: 'the session, or a bundle file', required: true }],
  options: [
    { flags: '-o, --output <file>', description: 'the file; default SESSION.onrecord, or SESSION.html' },
    { flags: '--html', description: 'one page that opens anywhere, with no network' },
    {
      flags: '--redact <rules>',
      description: 'remove by rule: all, private, tool:NAME, type:EVENT, field:NAME, pointer:/PATH; or @FILE',
    },
    { flags: '--force', description: 'write over a file that is there' },
  ],
  example: 'onrecord export s_7Q2M4K8D --html --redact private',
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store],
  async run(cli, input) {
    const [name = ''] = input.args;
    const html = isGiven(input, 'html');
    const named = await openNamed(cli, name);
    const file = {
      name: givenOption(input, 'output') ?? `${named.session}.${html ? 'html' : 'onrecord'}`,
      force: isGiven(input, 'force'),
    };
    refuseExisting(resolve(cli.cwd, file.name), file);
    const verified = await proved(cli, named);
    const redacted = await redaction(cli, input, named);
    const chunks = html
      ? await pageOf(cli, named, { verified, redacted })
      : bundleLines(named.store, named.session, redacted);
    const bytes = await writeOutput(cli, file, chunks);
    return said(cli, { named, file: file.name, bytes, verified, html, redacted });
  },
};

/** What does not prove itself is not handed on. */
const proved = async (cli: Cli, named: NamedRecord): Promise<Verified> => {
  const verified = await prove(cli, named);
  const [first] = verified.findings;
  if (!first) return verified;
  throw new OnrecordError(
    `The record of ${named.session} does not prove itself: ${first.message} Nothing was written.`,
    {
      code: 'record-damaged',
      next: 'corrupt',
      details: { session: named.session },
      hint: `onrecord verify ${named.session}`,
    },
  );
};

const redaction = async (cli: Cli, input: Input, named: NamedRecord): Promise<Redacted | undefined> => {
  const rules = givenOption(input, 'redact');
  if (rules === undefined) {
    if (named.bundle?.manifest.removed && !isGiven(input, 'html'))
      throw badInput('bundle-redacted', 'This bundle is written already; something was removed from it.');
    return undefined;
  }
  if (named.bundle?.manifest.removed)
    throw badInput(
      'bundle-redacted',
      'Something was removed from this bundle already. Remove more from the session that it was made of.',
    );
  return redactedBy(cli, named, rules);
};

const pageOf = async (
  cli: Cli,
  named: NamedRecord,
  { verified, redacted }: { readonly verified: Verified; readonly redacted: Redacted | undefined },
): Promise<AsyncIterable<string>> => {
  const { sessionPage } = await import('../../bundle/page/page.ts');
  const { store, session, bundle } = named;
  const rules = bundle?.manifest.removed;
  return sessionPage({ store, session, verified, redacted, rules, zone: cli.screen.zone });
};

type Written = {
  readonly named: NamedRecord;
  readonly file: string;
  readonly bytes: number;
  readonly verified: Verified;
  readonly html: boolean;
  readonly redacted: Redacted | undefined;
};

const said = ({ screen }: Cli, written: Written): ExitCode => {
  const { named, file, bytes, verified, html, redacted } = written;
  const { session } = named;
  const { events, blobs, requests, head } = verified;
  const removed = redacted && {
    events: redacted.bodies.size,
    blobs: redacted.blobs.size,
    rules: redacted.rules,
  };
  if (screen.jsonMode) {
    screen.json({ session, file, bytes, events, blobs, requests, head, ...(removed && { removed }) });
    return EXIT.done;
  }
  const what = html ? line`, a page that opens without a network` : line``;
  screen.out(
    line`${SIGN.ok} ${whole(file)}: ${formatBytes(bytes)}${what}.`,
    line`  ${whole(session)}: ${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}, verified before they were written.`,
    ...(removed
      ? [
          line`  Removed by ${removed.rules.join(', ')}: text of ${countOf(removed.events, 'event')}, ${countOf(removed.blobs, 'blob')}. Digests stand for it.`,
        ]
      : []),
  );
  if (!html) screen.next({ command: command('verify', file), note: line`check it anywhere` });
  return EXIT.done;
};
