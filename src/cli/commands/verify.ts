/** onrecord verify: whether the record proves itself. */
import { badInput } from '../../errors.ts';
import type { StoreFlaw } from '../../log/sqlite-examination.ts';
import type { LogStore } from '../../log/store.ts';
import { anchorFindings, type Anchor, type AnchoredHead } from '../../replay/anchor.ts';
import type { Finding, Verified } from '../../replay/verify.ts';
import { countOf, shortDigest } from '../../view/format.ts';
import { givenAnchor } from '../anchor-file.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { DIGEST_PREFIX_MIN } from '../decision.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { openNamed } from '../named-record.ts';
import { interrupted, overNames } from '../proof.ts';
import { openRecord } from '../record.ts';
import { examineStore, prove, proveListed, replayOf } from '../store-proof.ts';
import { EMPTY, line, SIGN, whole, type Shown } from '../terminal/shown.ts';
import { damageLines, findingLines, flawLines, wholeLines } from '../verify-lines.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Checks every hash, byte, request and decision of a session, a bundle, or a whole store.',
  arguments: [{ name: 'session', description: 'one session, or a bundle file', required: false }],
  options: [
    { flags: '--all', description: 'every session of the store, and the store itself' },
    {
      flags: '--head <digest>',
      description: 'a head that was kept elsewhere: the log has to contain it',
    },
    {
      flags: '--anchor <file>',
      description: 'heads that onrecord anchor wrote: the record has to hold them',
    },
    { flags: '--public-key <file>', description: 'the Ed25519 key that the anchor has to be signed with' },
    { flags: '--full', description: 'digests with all 64 digits' },
  ],
  example: 'onrecord verify --all',
  exits: [EXIT.done, EXIT.usage, EXIT.tooNew, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const [name] = input.args;
    if ((name === undefined) !== isGiven(input, 'all'))
      throw badInput('usage', 'Name one session or bundle, or give --all.', {}, 'onrecord help verify');
    const anchor = givenAnchor(cli, input);
    if (name === undefined) return verifyAll(cli, input, anchor);
    const named = await openNamed(cli, name);
    const found = await prove(cli, named);
    const kept = await keptFindings(named.store, found, input);
    const anchored = await anchoredFindings(named.store, headsOf(anchor, named.session));
    const all = { ...found, findings: [...found.findings, ...kept, ...anchored] };
    return verifyOne(cli, input, all, anchor);
  },
};

/** The anchored heads of a session. Throws `anchor-without-session`. */
const headsOf = (anchor: Anchor | undefined, session: string): readonly AnchoredHead[] => {
  if (!anchor) return [];
  const heads = anchor.heads.filter((head) => head.session === session);
  if (heads.length > 0) return heads;
  throw badInput('anchor-without-session', `The anchor names no head of session ${session}.`, { session });
};

const anchoredFindings = async (
  store: LogStore,
  heads: readonly AnchoredHead[],
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const head of heads) {
    const finding = await anchorFindings(store, head);
    if (finding) findings.push(finding);
  }
  return findings;
};

/** A chain alone cannot show that its end was cut off or all of it written anew; a head that was kept can. */
const keptFindings = async (store: LogStore, found: Verified, input: Input): Promise<readonly Finding[]> => {
  const kept = givenOption(input, 'head')?.toLowerCase();
  if (kept === undefined) return [];
  if (!/^[0-9a-f]{1,64}$/.test(kept) || kept.length < DIGEST_PREFIX_MIN)
    throw badInput(
      'digest-invalid',
      `"${kept}" is no digest: it takes ${DIGEST_PREFIX_MIN} to 64 hexadecimal digits.`,
    );
  const hashes = found.findings.some(({ kind }) => kind === 'unreadable')
    ? []
    : await store.read(found.session);
  if (hashes.some(({ hash }) => hash.startsWith(kept))) return [];
  const message = `No event has the hash ${kept} that was kept: the log was cut or written anew.`;
  return [{ seq: found.events, kind: 'head', message }];
};

const verifyOne = ({ screen }: Cli, input: Input, found: Verified, anchor: Anchor | undefined): ExitCode => {
  const damaged = found.findings.length > 0;
  if (screen.jsonMode) screen.json(found);
  else screen.out(...(damaged ? damageLines(found, screen.look) : wholeLines(found, isGiven(input, 'full'))));
  if (anchor && !damaged)
    screen.out(line`  The anchor of ${screen.time(anchor.at)} holds${signedWords(anchor, input)}.`);
  return damaged ? EXIT.proofFailed : EXIT.done;
};

/** A signature proves something to who knows whose it is. */
const signedWords = ({ signedBy }: Anchor, input: Input): Shown => {
  if (signedBy === undefined) return line`; it is not signed`;
  if (givenOption(input, 'publicKey') !== undefined) return line`, signed with that key`;
  return line`; it is signed with the key ${whole(shortDigest(signedBy))}, and none was named to compare`;
};

type Sums = { sessions: number; events: number; blobs: number; requests: number; decisions: number };

const verifyAll = async (cli: Cli, input: Input, anchor: Anchor | undefined): Promise<ExitCode> => {
  const { screen } = cli;
  const store = await openRecord(cli);
  const { flaws, sessions } = await examineStore(cli);
  const replay = await replayOf(cli);
  if (screen.jsonMode && flaws.length > 0) screen.jsonLine({ store: { flaws } });
  else screen.out(...flawLines(flaws, screen.look));
  const sums: Sums = { sessions: 0, events: 0, blobs: 0, requests: 0, decisions: 0 };
  const wrong = await overNames(cli, sessions, async (listed) => {
    const found = await proveListed(store, listed, replay);
    sums.sessions++;
    for (const key of ['events', 'blobs', 'requests', 'decisions'] as const) sums[key] += found[key];
    const damaged = found.findings.length > 0;
    if (screen.jsonMode) screen.jsonLine(found);
    else if (damaged) screen.out(...damageLines(found, screen.look), EMPTY);
    return { wrong: damaged };
  });
  if (cli.interrupt.signal.aborted) return interrupted(cli, sums.sessions);
  const missed = await anchoredFindings(store, anchor?.heads ?? []);
  if (screen.jsonMode && anchor) screen.jsonLine({ anchor: { ...anchor, findings: missed } });
  else screen.out(...anchorLines(anchor, missed, { input, screen }));
  screen.out(...sumLines(sums, { wrong, flaws }));
  return wrong + flaws.length + missed.length > 0 ? EXIT.proofFailed : EXIT.done;
};

const anchorLines = (
  anchor: Anchor | undefined,
  missed: readonly Finding[],
  { input, screen }: { readonly input: Input; readonly screen: Cli['screen'] },
): Shown[] => {
  if (!anchor) return [];
  if (missed.length === 0)
    return [
      line`${SIGN.ok} ${countOf(anchor.heads.length, 'anchored head')} of ${screen.time(anchor.at)}, all there${signedWords(anchor, input)}.`,
    ];
  return [
    line`${SIGN.fail} ${countOf(missed.length, 'anchored head')} of ${anchor.heads.length} not there.`,
    EMPTY,
    ...findingLines(missed, screen.look),
    EMPTY,
  ];
};

const sumLines = (
  { sessions, events, blobs, requests, decisions }: Sums,
  { wrong, flaws }: { readonly wrong: number; readonly flaws: readonly StoreFlaw[] },
): Shown[] => {
  const sums = line`${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}, ${countOf(decisions, 'decision')}`;
  if (wrong > 0)
    return [line`${SIGN.fail} ${countOf(wrong, 'session')} of ${sessions} with damage; ${sums} checked.`];
  if (flaws.length > 0) return [line`${SIGN.fail} The logs that can be reached are whole: ${sums} checked.`];
  return [line`${SIGN.ok} ${countOf(sessions, 'session')} of the store, all whole: ${sums}.`];
};
