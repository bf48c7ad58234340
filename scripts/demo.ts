/**
 * What `npm run demo` shows: the inbox assistant at its job, by the product's own commands, run in this process.
 *
 *   npm run demo [-- --folder PATH]
 *
 * It works in .onrecord/demo, which is made anew each time. Where nobody can be asked (no terminal, or CI is set)
 * the demo approves both calls itself, by the same command that a person would use, and says so.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { main as onrecord } from '../src/cli/main.ts';
import { STORE_PATH } from '../src/cli/config.ts';
import { EXIT, exitCodeOf } from '../src/cli/exit-code.ts';
import { command } from '../src/cli/terminal/command.ts';
import type { Screen } from '../src/cli/terminal/screen.ts';
import { dim, EMPTY, line, own, strong, theirLines, theirs, type Shown } from '../src/cli/terminal/shown.ts';
import { open } from '../src/event/envelope.ts';
import { isJsonObject, type Json } from '../src/event/json.ts';
import { SqliteLog } from '../src/log/sqlite.ts';
import { openCalendar } from '../src/tool/calendar/calendar.ts';
import { showMailbox } from '../src/tool/mail/address.ts';
import { parseMail } from '../src/tool/mail/parse.ts';
import { AGENT, CHECKOUT, MESSAGE, screenOf, setUpFolder } from './demo-folder.ts';

const ZONE = 'Europe/Vienna';

class Demo {
  readonly #folder: string;
  readonly #screen: Screen;

  constructor(folder: string, screen: Screen) {
    this.#folder = folder;
    this.#screen = screen;
  }

  async run(): Promise<number> {
    this.#say(
      strong('Onrecord: an agent at work, on the record.'),
      own('The model is a script: no key, no network, the same every time. Everything'),
      own('else is real: the mails, the calendar, the files, the record.'),
      EMPTY,
    );
    const worked = await this.#onrecord('run', AGENT, MESSAGE);
    if (worked !== EXIT.waiting) return worked;
    const session = await this.#session();
    const decided = await this.#decide(session);
    if (decided !== EXIT.done && decided !== EXIT.waiting && decided !== EXIT.interrupted) return decided;
    if (decided !== EXIT.interrupted) {
      await this.#showDesk();
      for (const proof of ['verify', 'replay']) {
        const proved = await this.#onrecord(proof, session);
        if (proved !== EXIT.done) return proved;
      }
    }
    this.#showNext(session, (await this.#waiting(session)).length);
    return decided === EXIT.interrupted ? decided : EXIT.done;
  }

  /** A command of the product, exactly as the console would run it in the demo's folder. */
  async #onrecord(...words: readonly string[]): Promise<number> {
    this.#say(line`${dim(own('$'))} ${theirs(['onrecord', ...words].map(asTyped).join(' '))}`, EMPTY);
    const interrupts: (() => void)[] = [];
    const { stdin, stdout, stderr, env } = process;
    const shell = {
      argv: [process.execPath, 'onrecord', ...words],
      env,
      stdin,
      stdout,
      stderr,
      cwd: () => this.#folder,
      once: (event: string, listener: () => void) => {
        interrupts.push(listener);
        process.once(event, listener);
        return process;
      },
    };
    try {
      return await onrecord(shell);
    } finally {
      // A command that is over takes no Ctrl C from the next one.
      for (const listener of interrupts) process.removeListener('SIGINT', listener);
      this.#say(EMPTY);
    }
  }

  /** The exit code of the last command. */
  async #decide(session: string): Promise<number> {
    if (this.#screen.canAsk) {
      this.#say(own('Two calls wait for you. Decide as you like: the agent goes on with any answer.'), EMPTY);
      return this.#onrecord('approvals', session);
    }
    this.#say(
      own('Nobody can be asked here: no terminal, or CI is set. So the demo approves both'),
      own('calls itself, as the head of scripts/demo.ts says. At a terminal you decide.'),
      EMPTY,
    );
    let code: number = EXIT.waiting;
    for (const { call, digest } of await this.#waiting(session))
      code = await this.#onrecord('approve', session, '--call', call, '--digest', digest);
    return code;
  }

  async #session(): Promise<string> {
    await using store = this.#store();
    const [row] = await store.log.sessions();
    return row?.session ?? '';
  }

  /** Questions of the session without an answer. */
  async #waiting(session: string): Promise<readonly { readonly call: string; readonly digest: string }[]> {
    await using store = this.#store();
    const events = (await store.log.read(session)).map(open);
    const answered = new Set(
      events.flatMap((event) => (event.type === 'approval.decided' ? [event.data.digest] : [])),
    );
    return events.flatMap((event) =>
      event.type === 'approval.requested' && !answered.has(event.data.digest) ? [event.data] : [],
    );
  }

  #store(): AsyncDisposable & { readonly log: SqliteLog } {
    const log = new SqliteLog(join(this.#folder, STORE_PATH));
    return { log, [Symbol.asyncDispose]: () => log.close() };
  }

  /** The desk as it is now: where the review stands, and the files that were not there before. */
  async #showDesk(): Promise<void> {
    const desk = join(this.#folder, 'desks', AGENT);
    const data = join(CHECKOUT, 'examples', AGENT, 'data', 'desk', 'files');
    this.#say(strong('What is on the desk now'), EMPTY);
    this.#show('calendar', reviewText(join(desk, 'calendar.db')));
    for (const path of filesOf(join(desk, 'files'))) {
      if (existsSync(join(data, path))) continue;
      const bytes = readFileSync(join(desk, 'files', path));
      this.#show(path, path.endsWith('.eml') ? await mailText(bytes) : bytes.toString());
    }
  }

  #show(path: string, text: string): void {
    const lines = theirLines(text.trimEnd()).map((shown) => line`  │ ${shown}`);
    this.#say(line`  ${strong(theirs(path))}`, ...lines, EMPTY);
  }

  #showNext(session: string, waiting: number): void {
    const here = relative(process.cwd(), this.#folder) || '.';
    if (waiting > 0)
      this.#say(line`${waiting === 1 ? 'One call still waits' : 'Both calls still wait'} for you.`, EMPTY);
    this.#say(
      strong('Try next'),
      line`  cd ${theirs(here)}`,
      ...(waiting > 0 ? [npx('approvals', session)] : []),
      npx('show', session, '--timeline'),
      npx('show', session, '--request', '3', '--diff'),
      npx('run', 'bookkeeping-clerk', 'Put the VAT of Brandl Metall right.'),
      npx('run', 'research-assistant', 'Grants for replacing our gas boiler?'),
      EMPTY,
      own('Kill a run at any moment, kill -9 too: npx onrecord resume SESSION goes on.'),
    );
  }

  #say(...lines: readonly Shown[]): void {
    this.#screen.out(...lines);
  }
}

/** A word of a command line, to be read. */
const asTyped = (word: string): string => (word.includes(' ') ? `"${word}"` : word);

const npx = (...words: readonly string[]): Shown => line`  npx ${command(...words)}`;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Where the calendar has the review, in a few lines. */
const reviewText = (calendar: string): string => {
  const { occurrences } = openCalendar(calendar, ZONE).list({
    from: '2026-12-03',
    to: '2026-12-09',
    zone: ZONE,
  });
  const entries = Array.isArray(occurrences) ? occurrences.filter(isJsonObject) : [];
  const review = entries.find(({ title }) => textOf(title).startsWith('Site review'));
  if (!review || !isJsonObject(review['start']) || !isJsonObject(review['end'])) return 'There is no review.';
  const [day, from] = textOf(review['start']['local']).split('T');
  const [, to] = textOf(review['end']['local']).split('T');
  return `${textOf(review['title'])}\n${day}, ${from} to ${to} (${ZONE})\n${textOf(review['where'])}`;
};

/** A draft as a mail program shows it. */
const mailText = async (bytes: Uint8Array): Promise<string> => {
  const { from, to, subject, text } = await parseMail(bytes);
  const head = [
    `From: ${from ? showMailbox(from) : ''}`,
    `To: ${to.map(showMailbox).join(', ')}`,
    `Subject: ${subject}`,
  ];
  return [...head, '', text].join('\n');
};

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted();

const { values } = parseArgs({ options: { folder: { type: 'string' } } });
const folder = resolve(values.folder ?? join(CHECKOUT, '.onrecord', 'demo'));
const screen = screenOf(process);
try {
  setUpFolder(folder);
  process.exitCode = await new Demo(folder, screen).run();
} catch (error) {
  screen.error(error);
  process.exitCode = exitCodeOf(error);
}
