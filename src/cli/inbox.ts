/**
 * The inbox at a terminal: one card at a time, oldest first. What was approved starts at once and runs while the
 * next card is read; its lines are shown when the inbox is left.
 */
import { systemClock } from '../clock.ts';
import { isOnrecordError } from '../errors.ts';
import type { ApprovalDecision } from '../event/events.ts';
import type { LogStore } from '../log/store.ts';
import { objection } from '../session/may-decide.ts';
import { findCall } from '../session/state.ts';
import type { Approval } from '../view/approval.ts';
import { countOf, formatCount, shortDigest } from '../view/format.ts';
import { actOf, argumentLines, cardBody, cardHead, cardOptionsOf } from './approval-card.ts';
import type { Cli } from './cli.ts';
import { DigestMismatch, pastOf, recordDecision, STILL_STANDS } from './decision.ts';
import { changeLines } from './decision-command.ts';
import { driveAndShow } from './drive-on.ts';
import { editArguments } from './edit-desk.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { grantLines } from './grant.ts';
import { askGrant } from './grant-desk.ts';
import { mostUrgent } from './outcome.ts';
import { Pager, type Choice, type PagedQuestion } from './pager.ts';
import { readRecord, waitingApprovals } from './record.ts';
import type { Unanswered } from './terminal/ask.ts';
import { wrap } from './terminal/cells.ts';
import { command } from './terminal/command.ts';
import { fit, type Look } from './terminal/look.ts';
import { EMPTY, line, own, SIGN, strong, whole, type Shown } from './terminal/shown.ts';

type CardEnd = 'answered' | 'skipped' | 'gone' | 'quit' | 'interrupted';

const CHOICES: readonly Choice[] = [
  { key: 'y', words: own('approve') },
  { key: 'g', words: own('approve, and calls like it') },
  { key: 'e', words: own('edit') },
  { key: 'x', words: own('reject') },
  { key: 'o', words: own('answer instead') },
  { key: 's', words: own('skip') },
  { key: '?', words: own('help') },
  { key: 'q', words: own('quit') },
];

const HELP: readonly Shown[] = [
  EMPTY,
  line`  ${strong('y')}  approve: run it with exactly these arguments; asks once more`,
  line`  ${strong('g')}  approve, and let further calls like it in this session run without a question`,
  line`  ${strong('e')}  edit: change the arguments in your editor, see the difference, then approve`,
  line`  ${strong('x')}  reject: nothing runs; the model is told your reason`,
  line`  ${strong('o')}  answer instead: nothing runs; the model gets your words as the result`,
  line`  ${strong('a')}  show the exact arguments`,
  line`  ${strong('s')}  skip: it goes on waiting`,
  line`  ${strong('q')}  quit: what was decided goes on, the rest goes on waiting`,
  EMPTY,
  own('  Effects   none          changes nothing'),
  own('            idempotent    running it twice changes nothing more'),
  own('            reconcilable  the tool can find out what happened'),
  own('            once          never run again by itself'),
];

export class Inbox {
  readonly #cli: Cli;
  readonly #store: LogStore;
  readonly #session: string | undefined;
  /** Digests of cards that were shown. */
  readonly #seen = new Set<string>();
  /** Sessions with a decision, and the first event that was not shown. */
  readonly #driven = new Map<string, { readonly from: number; readonly rested: Promise<unknown> }>();

  constructor(cli: Cli, store: LogStore, session: string | undefined) {
    this.#cli = cli;
    this.#store = store;
    this.#session = session;
  }

  async run(): Promise<ExitCode> {
    for (;;) {
      const waiting = await waitingApprovals(this.#store, { session: this.#session });
      const fresh = waiting.filter(({ digest }) => !this.#seen.has(digest));
      const [approval] = fresh;
      if (!approval) return this.#leave(waiting.length);
      const number = this.#seen.size + 1;
      this.#seen.add(approval.digest);
      const end = await this.#card(approval, number, this.#seen.size - 1 + fresh.length);
      if (end === 'interrupted') return this.#interrupted();
      if (end === 'quit') return this.#leave(waiting.length);
    }
  }

  async #card(approval: Approval, number: number, count: number): Promise<CardEnd> {
    const { screen } = this.#cli;
    const look = screen.noteLook;
    const barred = await this.#barred(approval);
    const pager = new Pager(screen, {
      head: [
        EMPTY,
        ...cardHead(
          approval,
          line`${formatCount(number)} of ${formatCount(count)}   `,
          cardOptionsOf(this.#cli, look),
        ),
      ],
      body: cardBody(approval, look),
      foot: [
        ...barredLines(reasonsOf(barred), look),
        line`Decides on ${whole(shortDigest(approval.digest))}`,
      ],
      choices: CHOICES.filter(({ key }) => !barred.has(key)),
      deciding: ['y', 'g'],
      hidden: ['a', ...barred.keys()],
    } satisfies PagedQuestion);
    for (;;) {
      const answer = await pager.ask();
      if (answer.kind !== 'key') return endOf(answer);
      const why = barred.get(answer.key);
      if (why !== undefined) screen.note(...barredLines([why], look));
      const end = why === undefined ? await this.#act(answer.key, approval) : undefined;
      if (end) return end;
    }
  }

  /** Keys that would be refused to this person, and why: known before they are pressed. */
  async #barred({ session, call }: Approval): Promise<ReadonlyMap<string, string>> {
    const { state } = await readRecord(this.#store, session);
    const asked = findCall(state, call);
    const by = await this.#cli.person();
    const now = systemClock.now();
    const barred = new Map<string, string>();
    for (const { key, decision } of PROBES) {
      const why = asked && objection(state, asked, { decision, by, now });
      if (why) barred.set(key, why.message);
    }
    return barred;
  }

  /** Undefined where the card goes on. */
  async #act(key: string, approval: Approval): Promise<CardEnd | undefined> {
    const { screen } = this.#cli;
    switch (key) {
      case 'y':
        return this.#approve(approval);
      case 'g':
        return this.#withGrant(approval);
      case 'e':
        return this.#edit(approval);
      case 'x':
        return this.#line(approval, own('Reason, for the model: '), (reason) => ({ do: 'reject', reason }));
      case 'o':
        return this.#line(approval, own('Answer, for the model: '), (text) => ({
          do: 'respond',
          content: [{ type: 'text', text }],
        }));
      case 'a':
        screen.note(EMPTY, ...argumentLines(approval.args, screen.noteLook));
        return undefined;
      case 's':
        return 'skipped';
      case 'q':
        return 'quit';
      default:
        screen.note(...HELP);
        return undefined;
    }
  }

  async #approve(approval: Approval): Promise<CardEnd | undefined> {
    const question = line`Approve and ${actOf(approval)}? Type y again.`;
    const answer = await this.#cli.screen.askKey([EMPTY, question], ['y', 'n', 'escape', 'q', 's']);
    if (answer.kind !== 'key') return endOf(answer);
    if (answer.key === 'y') return this.#decide(approval, { do: 'approve' });
    this.#cli.screen.note(own('  Not approved.'));
    return undefined;
  }

  async #withGrant(approval: Approval): Promise<CardEnd | undefined> {
    const granted = await askGrant(this.#cli, approval);
    if (granted.kind === 'interrupted') return 'interrupted';
    if (granted.kind === 'kept') return undefined;
    return this.#decide(approval, { do: 'approve', grant: granted.grant });
  }

  async #edit(approval: Approval): Promise<CardEnd | undefined> {
    const edited = await editArguments(this.#cli, this.#store, approval);
    if (edited.kind === 'interrupted') return 'interrupted';
    if (edited.kind === 'kept') return undefined;
    return this.#decide(approval, { do: 'edit', args: edited.args });
  }

  async #line(
    approval: Approval,
    prompt: Shown,
    decision: (text: string) => ApprovalDecision,
  ): Promise<CardEnd | undefined> {
    const answer = await this.#cli.screen.askLine(prompt);
    if (answer.kind === 'line') return this.#decide(approval, decision(answer.text));
    return answer.kind === 'interrupted' ? 'interrupted' : undefined;
  }

  /** Undefined where it was refused and another answer may count. */
  async #decide(
    { session, call, tool, digest }: Approval,
    decision: ApprovalDecision,
  ): Promise<CardEnd | undefined> {
    const { screen } = this.#cli;
    try {
      const { seq } = await recordDecision(this.#cli, { session, call, tool, digest }, decision);
      await this.#drive(session, seq + 1);
      const left = (await waitingApprovals(this.#store, { session: this.#session })).length;
      const past = capital(pastOf(decision.do));
      screen.note(line`${SIGN.ok} ${past}, recorded as event ${seq}. ${formatCount(left)} left.`);
      if (decision.do === 'approve' && decision.grant)
        screen.note(...grantLines(decision.grant, tool, screen.noteLook));
      return 'answered';
    } catch (error) {
      // Somebody was faster, or the question has changed: it comes again as it stands now.
      if (!isOnrecordError(error) || error.next !== 'look-again') throw error;
      screen.error(error);
      if (STILL_STANDS.has(error.code)) return undefined;
      if (error instanceof DigestMismatch) {
        screen.note(...changeLines(error, this.#cli));
        this.#seen.delete(String(error.details['digest']));
      }
      return 'gone';
    }
  }

  /** Lets the session go on without waiting for it. What goes wrong stands in its record. */
  async #drive(session: string, from: number): Promise<void> {
    const runtime = await this.#cli.runtime();
    const rested = runtime.rest(session).catch((error: unknown) => error);
    this.#driven.set(session, { from: this.#driven.get(session)?.from ?? from, rested });
  }

  async #leave(waiting: number): Promise<ExitCode> {
    const codes: ExitCode[] = [];
    for (const [session, { from }] of this.#driven)
      codes.push(await driveAndShow(this.#cli, session, { from }));
    const left = waiting === 0 ? 0 : (await waitingApprovals(this.#store, { session: this.#session })).length;
    if (left > 0) codes.push(EXIT.waiting);
    if (this.#driven.size === 0) this.#untouched(left);
    return mostUrgent(codes);
  }

  #untouched(left: number): void {
    const { screen } = this.#cli;
    if (left === 0) return screen.note(own('Nothing waits for a decision any more.'));
    screen.note(
      EMPTY,
      line`${SIGN.wait} ${countOf(left, 'decision')} left as ${left === 1 ? 'it was' : 'they were'}.`,
    );
    screen.next({ command: this.#again() });
  }

  #interrupted(): ExitCode {
    this.#cli.screen.next({ command: this.#again() });
    return EXIT.interrupted;
  }

  #again(): Shown {
    return command('approvals', ...(this.#session === undefined ? [] : [this.#session]));
  }
}

/** One decision of each kind, by the keys that give it. */
const PROBES: readonly { readonly key: string; readonly decision: ApprovalDecision }[] = [
  { key: 'y', decision: { do: 'approve' } },
  { key: 'g', decision: { do: 'approve', grant: { when: [], forMs: 1 } } },
  { key: 'e', decision: { do: 'edit', args: '{}' } },
  { key: 'x', decision: { do: 'reject' } },
  { key: 'o', decision: { do: 'respond', content: [] } },
];

/** Each reason once. */
const barredLines = (reasons: Iterable<string>, look: Look): Shown[] =>
  [...new Set(reasons)].flatMap((why) =>
    wrap(fit(line`${SIGN.wait} ${why}`, look), look.textColumns, { hanging: 2, strict: true }),
  );

/** That nothing can be granted is said to who asks for it. */
const reasonsOf = (barred: ReadonlyMap<string, string>): readonly string[] =>
  [...barred].flatMap(([key, why]) => (key === 'g' ? [] : [why]));

const endOf = ({ kind }: Unanswered): CardEnd => (kind === 'interrupted' ? 'interrupted' : 'quit');

const capital = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
