/** onrecord verify: whether the record proves itself. */
import { badInput } from '../../errors.ts';
import type { LogStore } from '../../log/store.ts';
import { verify as verified, type Finding, type Verified } from '../../replay/verify.ts';
import { countOf, shortDigest } from '../../view/format.ts';
import type { Cli } from '../cli.ts';
import type { Command, Input } from '../command.ts';
import { DIGEST_PREFIX_MIN } from '../decision.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { givenOption, isGiven } from '../given.ts';
import { interrupted, overAll } from '../proof.ts';
import { openRecord } from '../record.ts';
import { dim, EMPTY, line, own, SIGN, strong, theirs, whole, type Shown } from '../terminal/shown.ts';
import { table } from '../terminal/table.ts';

/** Findings of one session that are named one by one. */
const FINDINGS_SHOWN_MAX = 20;

export const verify: Command = {
  name: 'verify',
  summary: 'Checks the hash chain, every stored byte and every request of a session, or of all.',
  arguments: [{ name: 'session', description: 'one session', required: false }],
  options: [
    { flags: '--all', description: 'every session of the store' },
    {
      flags: '--head <digest>',
      description: 'a head that was kept elsewhere: the log has to contain it',
    },
    { flags: '--full', description: 'digests with all 64 digits' },
  ],
  example: 'onrecord verify --all',
  exits: [EXIT.done, EXIT.usage, EXIT.proofFailed, EXIT.store, EXIT.interrupted],
  async run(cli, input) {
    const [session] = input.args;
    if ((session === undefined) !== isGiven(input, 'all'))
      throw badInput('usage', 'Name one session, or give --all.', {}, 'onrecord help verify');
    const store = await openRecord(cli);
    if (session === undefined) return verifyAll(cli, store);
    return verifyOne(cli, input, await anchored(store, await verified(store, session), input));
  },
};

/** A chain alone cannot show that its end was cut off or all of it written anew; a head that was kept can. */
const anchored = async (store: LogStore, found: Verified, input: Input): Promise<Verified> => {
  const kept = givenOption(input, 'head')?.toLowerCase();
  if (kept === undefined) return found;
  if (!/^[0-9a-f]{1,64}$/.test(kept) || kept.length < DIGEST_PREFIX_MIN)
    throw badInput(
      'digest-invalid',
      `"${kept}" is no digest: it takes ${DIGEST_PREFIX_MIN} to 64 hexadecimal digits.`,
    );
  const hashes = found.findings.some(({ kind }) => kind === 'unreadable')
    ? []
    : await store.read(found.session);
  if (hashes.some(({ hash }) => hash.startsWith(kept))) return found;
  const message = `No event has the hash ${kept} that was kept: the log was cut or written anew.`;
  return { ...found, findings: [...found.findings, { seq: found.events, kind: 'head', message }] };
};

const verifyOne = ({ screen }: Cli, input: Input, found: Verified): ExitCode => {
  const { session, events, blobs, requests, head, findings } = found;
  const code = findings.length === 0 ? EXIT.done : EXIT.proofFailed;
  if (screen.jsonMode) screen.json(found);
  else if (findings.length > 0) screen.out(...damageLines(found, screen.look));
  else
    screen.out(
      line`${SIGN.ok} The record of ${whole(session)} proves itself: ${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}.`,
      line`  Head ${whole(shortDigest(head, isGiven(input, 'full')))} at event ${events}. Kept elsewhere it proves that nothing is cut off.`,
    );
  return code;
};

const damageLines = (found: Verified, look: Cli['screen']['look']): Shown[] => {
  const { session, findings, events } = found;
  const first = Math.min(...findings.map(({ seq }) => seq));
  const rest = findings.length - FINDINGS_SHOWN_MAX;
  const before = first <= 1 ? own('') : line` Events 1 to ${first - 1} are whole.`;
  return [
    line`${SIGN.fail} The record of ${whole(session)} does not prove itself.  ${dim(own('verify-damaged'))}`,
    EMPTY,
    ...findingLines(findings.slice(0, FINDINGS_SHOWN_MAX), look),
    ...(rest > 0 ? [line`  … ${countOf(rest, 'more finding')}`] : []),
    EMPTY,
    line`  ${countOf(findings.length, 'finding')} in ${countOf(events, 'event')}.${before}`,
  ];
};

const findingLines = (findings: readonly Finding[], look: Cli['screen']['look']): readonly Shown[] =>
  table(
    [
      { key: 'seq', align: 'right' },
      { key: 'kind' },
      // A finding is never cut: it may name a digest.
      { key: 'message' },
    ],
    findings.map(({ seq, kind, message }) => ({
      seq: dim(seq),
      kind: strong(kind),
      message: theirs(message),
    })),
    { look: { ...look, terminal: false }, indent: 2 },
  ).lines;

const verifyAll = async (cli: Cli, store: LogStore): Promise<ExitCode> => {
  const { screen } = cli;
  let [sessions, events, blobs, requests] = [0, 0, 0, 0];
  const wrong = await overAll(cli, store, async (session) => {
    const found = await verified(store, session);
    sessions++;
    events += found.events;
    blobs += found.blobs;
    requests += found.requests;
    if (screen.jsonMode) screen.jsonLine(found);
    else if (found.findings.length > 0) screen.out(...damageLines(found, screen.look), EMPTY);
    return { wrong: found.findings.length > 0 };
  });
  if (cli.interrupt.signal.aborted) return interrupted(cli, sessions);
  const sums = line`${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}`;
  if (wrong > 0)
    screen.out(line`${SIGN.fail} ${countOf(wrong, 'session')} of ${sessions} with damage; ${sums} checked.`);
  else screen.out(line`${SIGN.ok} ${countOf(sessions, 'session')} of the store, all whole: ${sums}.`);
  return wrong > 0 ? EXIT.proofFailed : EXIT.done;
};
