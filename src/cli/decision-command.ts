/** What approve, edit, reject and respond have in common: aim, record, say so, drive on. */
import type { Option, Input } from './command.ts';
import type { Cli } from './cli.ts';
import type { ApprovalDecision, Grant } from '../event/events.ts';
import { isOnrecordError } from '../errors.ts';
import type { SessionRecord } from '../view/record.ts';
import { aimOf, DigestMismatch, pastOf, recordDecision, type Aim } from './decision.ts';
import { driveAndShow } from './drive-on.ts';
import { EXIT, exitCodeOf, type ExitCode } from './exit-code.ts';
import { givenCall, givenOption } from './given.ts';
import { namedSession, openRecord, readRecord } from './record.ts';
import { diffLines } from './terminal/diff.ts';
import { dim, EMPTY, line, own, SIGN, strong, whole, type Shown } from './terminal/shown.ts';

export const CALL_OPTION: Option = {
  flags: '--call <call>',
  description: 'turn, step and index, as in 3.7.2; may be left out when one call waits',
};

export const DECISION_EXITS: readonly ExitCode[] = [
  EXIT.done,
  EXIT.failed,
  EXIT.usage,
  EXIT.waiting,
  EXIT.inDoubt,
  EXIT.stopped,
  EXIT.store,
  EXIT.notAllowed,
  EXIT.interrupted,
];

export type DecisionCommand = {
  readonly name: string;
  readonly digestRequired: boolean;
  readonly decision: (record: SessionRecord, aim: Aim) => Promise<ApprovalDecision> | ApprovalDecision;
  /** What there is to say beside "recorded as event 45". */
  readonly more?: (record: SessionRecord, aim: Aim, decision: ApprovalDecision) => readonly Shown[];
};

export const decideFrom = async (cli: Cli, input: Input, how: DecisionCommand): Promise<ExitCode> => {
  const { screen } = cli;
  try {
    const record = await readRecord(await openRecord(cli), namedSession(input, how.name));
    const { digestRequired } = how;
    const aim = aimOf(cli, record, {
      call: givenCall(input),
      digest: givenOption(input, 'digest'),
      digestRequired,
    });
    const decision = await how.decision(record, aim);
    const { seq, replayed } = await recordDecision(cli, aim, decision);
    const again = replayed ? own(' before') : own('');
    const past = pastOf(decision.do);
    if (screen.jsonMode)
      screen.jsonLine({ decided: { ...aim, do: decision.do, ...grantOf(decision), seq, replayed } });
    screen.out(
      line`${SIGN.ok} ${past.charAt(0).toUpperCase()}${past.slice(1)}${again}: ${strong(aim.tool)}, call ${whole(aim.call)}, recorded as event ${seq}.`,
      ...(how.more?.(record, aim, decision) ?? []),
    );
    return await driveAndShow(cli, aim.session, { from: seq + 1 });
  } catch (error) {
    if (!(error instanceof DigestMismatch) || !isOnrecordError(error)) throw error;
    screen.error(error);
    screen.note(...changeLines(error, cli));
    return exitCodeOf(error);
  }
};

const grantOf = (decision: ApprovalDecision): { readonly grant?: Grant } =>
  decision.do === 'approve' && decision.grant ? { grant: decision.grant } : {};

/** What is different from what was seen. */
export const changeLines = ({ changes }: DigestMismatch, { screen }: Cli): Shown[] =>
  changes.flatMap((change) =>
    'patch' in change
      ? [
          EMPTY,
          dim(line`  ${change.what}, as you saw it and now`),
          ...diffLines(change.patch, screen.noteLook),
        ]
      : [],
  );
