/** The desk for calls in doubt at a terminal: one question at a time, nothing preselected. */
import { systemClock } from '../clock.ts';
import type { Settlement } from '../event/events.ts';
import type { LogStore } from '../log/store.ts';
import { trySettle, type SettleTrial } from '../view/consequence.ts';
import { againWords } from '../view/card-words.ts';
import type { Doubt } from '../view/doubt.ts';
import { countOf, formatCount } from '../view/format.ts';
import { isOnrecordError } from '../errors.ts';
import type { Cli } from './cli.ts';
import { doubtBody, doubtHead } from './doubt-card.ts';
import { driveAndShow } from './drive-on.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { mostUrgent } from './outcome.ts';
import { Pager, type Choice } from './pager.ts';
import { openDoubts, readRecord } from './record.ts';
import { consequenceLines, recordSettlement, resultContent, settlementWords } from './settlement.ts';
import { command } from './terminal/command.ts';
import { EMPTY, line, own, SIGN, strong, type Shown } from './terminal/shown.ts';

type End = 'answered' | 'skipped' | 'quit' | 'interrupted';

const CHOICES: readonly Choice[] = [
  { key: 's', words: own('skip') },
  { key: 'q', words: own('quit') },
];

const ANSWERS: readonly string[] = ['1', '2', '3'];

export class DoubtDesk {
  readonly #cli: Cli;
  readonly #store: LogStore;
  readonly #session: string | undefined;
  readonly #seen = new Set<string>();
  readonly #driven = new Map<string, number>();

  constructor(cli: Cli, store: LogStore, session: string | undefined) {
    this.#cli = cli;
    this.#store = store;
    this.#session = session;
  }

  async run(): Promise<ExitCode> {
    for (;;) {
      const open = await openDoubts(this.#store, { session: this.#session });
      const fresh = open.filter((doubt) => !this.#seen.has(nameOf(doubt)));
      const [doubt] = fresh;
      if (!doubt) return this.#leave();
      const number = this.#seen.size + 1;
      this.#seen.add(nameOf(doubt));
      const end = await this.#ask(
        doubt,
        line`${formatCount(number)} of ${formatCount(number - 1 + fresh.length)}   `,
      );
      if (end === 'interrupted') return this.#interrupted();
      if (end === 'quit') return this.#leave();
    }
  }

  async #ask(doubt: Doubt, lead: Shown): Promise<End> {
    const { screen } = this.#cli;
    const look = screen.noteLook;
    const options = { look, time: (ms: number) => screen.time(ms), now: systemClock.now() };
    const pager = new Pager(screen, {
      head: [EMPTY, ...doubtHead(doubt, lead, options)],
      body: doubtBody(doubt, options),
      foot: [],
      atEnd: await this.#answers(doubt),
      choices: CHOICES,
      deciding: ANSWERS,
      hidden: ANSWERS,
    });
    for (;;) {
      const answer = await pager.ask();
      if (answer.kind !== 'key') return answer.kind === 'interrupted' ? 'interrupted' : 'quit';
      if (answer.key === 's') return 'skipped';
      if (answer.key === 'q') return 'quit';
      const end = await this.#answer(doubt, answer.key);
      if (end) return end;
    }
  }

  /** The three answers, each with what follows from it. */
  async #answers(doubt: Doubt): Promise<Shown[]> {
    const again = await this.#try(doubt, { answer: 'not-happened' });
    return [
      strong(own('What happened?')),
      line`  ${strong('1')}  It happened`,
      own('     The model gets the result that you give. Nothing runs.'),
      line`  ${strong('2')}  It did not happen${again?.follow.kind === 'runs' ? own(': run it now') : own('')}`,
      line`     ${againWords(again?.follow)}`,
      line`  ${strong('3')}  Give up on it`,
      own('     The model is told that the outcome is unknown. Nothing runs.'),
      EMPTY,
    ];
  }

  async #answer(doubt: Doubt, key: string): Promise<End | undefined> {
    if (key === '2') return this.#confirm(doubt, { answer: 'not-happened' });
    if (key === '3') return this.#confirm(doubt, { answer: 'give-up' });
    const answer = await this.#cli.screen.askLine(own('Result, for the model: '));
    if (answer.kind === 'interrupted') return 'interrupted';
    if (answer.kind !== 'line') return undefined;
    return this.#confirm(doubt, { answer: 'happened', content: [resultContent(answer.text)] });
  }

  async #confirm(doubt: Doubt, settlement: Settlement, note?: string): Promise<End | undefined> {
    const { screen } = this.#cli;
    const tried = await this.#try(doubt, settlement, note);
    const what = tried ? consequenceLines(tried, screen.noteLook) : [];
    const runs = tried?.follow.kind === 'runs' ? own(' and run it again') : own('');
    const answer = await screen.askKey(
      [
        EMPTY,
        ...what,
        line`Record “${settlementWords(settlement)}”${runs}? Type y. ${strong('n')} adds a note, ${strong('k')} goes back.`,
      ],
      ['y', 'n', 'k', 'escape'],
    );
    if (answer.kind !== 'key') return answer.kind === 'interrupted' ? 'interrupted' : 'quit';
    if (answer.key === 'y') return this.#record(doubt, settlement, note);
    if (answer.key !== 'n') {
      screen.note(own('  Nothing was recorded.'));
      return undefined;
    }
    const said = await screen.askLine(own('Note, for the record: '));
    if (said.kind === 'interrupted') return 'interrupted';
    return this.#confirm(doubt, settlement, said.kind === 'line' ? said.text : note);
  }

  async #record(doubt: Doubt, settlement: Settlement, note: string | undefined): Promise<End> {
    const { screen, actor } = this.#cli;
    const { session, call } = doubt;
    try {
      const settling = { call, settlement, by: actor, ...(note !== undefined && { note }) };
      const { seq } = await recordSettlement(this.#cli, session, settling);
      if (!this.#driven.has(session)) this.#driven.set(session, seq + 1);
      const runtime = await this.#cli.runtime();
      runtime.rest(session).catch(() => undefined);
      const left = (await openDoubts(this.#store, { session: this.#session })).length;
      screen.note(
        line`${SIGN.ok} Settled as “${settlementWords(settlement)}”, recorded as event ${seq}. ${formatCount(left)} left.`,
      );
    } catch (error) {
      // Somebody was faster: what they said stands.
      if (!isOnrecordError(error) || error.next !== 'look-again') throw error;
      screen.error(error);
    }
    return 'answered';
  }

  async #try(
    { session, call }: Doubt,
    settlement: Settlement,
    note?: string,
  ): Promise<SettleTrial | undefined> {
    const record = await readRecord(this.#store, session);
    return trySettle(record, { call, settlement, by: this.#cli.actor, ...(note !== undefined && { note }) });
  }

  async #leave(): Promise<ExitCode> {
    const { screen } = this.#cli;
    const codes: ExitCode[] = [];
    for (const [session, from] of this.#driven) codes.push(await driveAndShow(this.#cli, session, { from }));
    const left = await openDoubts(this.#store, { session: this.#session });
    if (left.length > 0) codes.push(EXIT.inDoubt);
    if (left.length > 0 && this.#driven.size === 0) {
      screen.note(EMPTY, line`${SIGN.doubt} ${countOf(left.length, 'call')} still in doubt.`);
      screen.next({ command: this.#again() });
    }
    return mostUrgent(codes);
  }

  #interrupted(): ExitCode {
    this.#cli.screen.next({ command: this.#again() });
    return EXIT.interrupted;
  }

  #again(): Shown {
    return command('settle', ...(this.#session === undefined ? [] : [this.#session]));
  }
}

/** A call that comes into doubt again is a new question. */
const nameOf = ({ session, call, doubtedSeq }: Doubt): string => `${session} ${call} ${doubtedSeq}`;
