/**
 * An example agent at work on its own desk and a real store, with a clock that stands still and ids that are the
 * same in every run, so that what it leaves can be compared byte for byte.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bookkeepingClerk } from '../../examples/bookkeeping-clerk/agent.ts';
import { inboxAssistant } from '../../examples/inbox-assistant/agent.ts';
import { researchAssistant } from '../../examples/research-assistant/agent.ts';
import { scriptOf } from '../../examples/script.ts';
import { open } from '../../src/event/envelope.ts';
import {
  openRuntime,
  scriptedModel,
  SqliteLog,
  systemClock,
  type Agent,
  type ApprovalDecision,
  type Clock,
  type LogEvent,
  type Model,
  type Random,
  type Runtime,
  type Script,
  type ScriptedModel,
  type ScriptReply,
} from '../../src/index.ts';
import { replay, type Replayed } from '../../src/replay/replay.ts';
import { verify, type Verified } from '../../src/replay/verify.ts';
import { PROGRAM } from '../../src/worker/program.ts';

export type Example = {
  readonly message: string;
  readonly agent: (options: { readonly desk: string; readonly model?: Model }) => Agent;
  /** The folder that desks are copied from. */
  readonly data: string;
};

const folderOf = (name: string): string => join(import.meta.dirname, '../../examples', name);
const dataOf = (name: string): string => join(folderOf(name), 'data/desk');

export type ExampleName = 'inbox-assistant' | 'bookkeeping-clerk' | 'research-assistant';

export const EXAMPLES: Readonly<Record<ExampleName, Example>> = {
  'inbox-assistant': {
    message:
      'Halden cannot make Thursday. Move the review, draft the reply, note it on their file. Do not send anything.',
    agent: inboxAssistant,
    data: dataOf('inbox-assistant'),
  },
  'bookkeeping-clerk': {
    message:
      'Brandl Metall charges 20 % since July, but B-10442 and B-10467 stand in the ledger with 10 %. Check the rule and put them right.',
    agent: bookkeepingClerk,
    data: dataOf('bookkeeping-clerk'),
  },
  'research-assistant': {
    message:
      'What grants are there for replacing the gas boiler in our workshop, and until when? Write a summary.',
    agent: researchAssistant,
    data: dataOf('research-assistant'),
  },
};

/** 14:02:28 in Vienna on Friday 27 November 2026. */
const NOW_MS: number = Date.UTC(2026, 10, 27, 13, 2, 28);
const stillClock: Clock = { ...systemClock, now: () => NOW_MS };
const countedRandom = (): Random => {
  let next = 0;
  return { bytes: (count) => Uint8Array.from({ length: count }, () => next++ % 256) };
};

const PAUSES: ReadonlySet<string> = new Set(['delayMs', 'stream']);

const withoutPauses = <Reply extends ScriptReply>(reply: Reply): Reply =>
  Object.fromEntries(Object.entries(reply).filter(([name]) => !PAUSES.has(name))) as Reply;

/** The script without the pauses that are there for people. */
const unpaced = ({ name, steps }: Script): Script => ({
  name,
  steps: steps.map((step) => ({
    ...withoutPauses(step),
    ...(step.choose && { choose: step.choose.map(withoutPauses) }),
  })),
});

export type OfficeOptions = {
  readonly folder: string;
  /** Instead of the example's own. */
  readonly script?: Script;
  /** Stands between the runtime and the store. */
  readonly log?: (store: SqliteLog) => SqliteLog;
};

export type Answers = Readonly<Record<string, ApprovalDecision>>;
export const APPROVE: ApprovalDecision = { do: 'approve' };

export class Office {
  readonly name: ExampleName;
  readonly desk: string;
  readonly store: SqliteLog;
  readonly runtime: Runtime;
  readonly agent: Agent;
  readonly #model: ScriptedModel;

  private constructor(
    name: ExampleName,
    place: { desk: string; store: SqliteLog; runtime: Runtime; agent: Agent },
    model: ScriptedModel,
  ) {
    this.name = name;
    this.desk = place.desk;
    this.store = place.store;
    this.runtime = place.runtime;
    this.agent = place.agent;
    this.#model = model;
  }

  static async open(name: ExampleName, { folder, script, log }: OfficeOptions): Promise<Office> {
    const example = EXAMPLES[name];
    const desk = join(folder, 'desks', name);
    const model = scriptedModel(unpaced(script ?? scriptOf(folderOf(name))));
    const agent = example.agent({ desk, model });
    const opened = new SqliteLog(join(folder, 'log.db'));
    const store = log?.(opened) ?? opened;
    const runtime = await openRuntime({
      store,
      agents: [agent],
      clock: stillClock,
      random: countedRandom(),
      drive: false,
    });
    return new Office(name, { desk, store, runtime, agent }, model);
  }

  async send(): Promise<string> {
    return (await this.runtime.send({ agent: this.name, message: EXAMPLES[this.name].message })).session;
  }

  /** Drives to the end; every question gets its tool's answer, approval where none is named. */
  async answer(session: string, answers: Answers = {}): Promise<void> {
    for (;;) {
      const { approvals } = await this.runtime.rest(session);
      if (approvals.length === 0) return;
      const { active } = await this.runtime.state(session);
      for (const call of active?.calls ?? [])
        if (call.phase === 'asking' && call.digest)
          await this.runtime.decide({
            session,
            call: call.id,
            digest: call.digest,
            decision: answers[call.tool] ?? APPROVE,
          });
    }
  }

  /** The whole job. */
  async play(answers: Answers = {}): Promise<Told> {
    const session = await this.send();
    await this.answer(session, answers);
    return this.told(session);
  }

  async told(session: string): Promise<Told> {
    const events = (await this.store.read(session)).map(open);
    const state = await this.runtime.state(session);
    const rest = await this.runtime.rest(session);
    const encoderOf = (): Model['encoder'] => this.agent.model.encoder;
    return {
      session,
      events,
      status: rest.status,
      inDoubt: rest.inDoubt,
      text: lastText(events),
      cost: state.cost,
      unusedSteps: this.#model.unusedSteps(state.modelReplies),
      replayed: replay({ session, events, encoderOf, program: PROGRAM }),
      verified: await verify(this.store, session),
    };
  }

  /** What differs between the desk and the data it was made of: added and changed files with their bytes. */
  changes(): Readonly<Record<string, string>> {
    const before = treeOf(EXAMPLES[this.name].data);
    const after = treeOf(this.desk);
    const gone = Object.keys(before).filter((path) => !(path in after));
    if (gone.length > 0) throw new Error(`Gone from the desk: ${gone.join(', ')}.`);
    return Object.fromEntries(
      Object.entries(after).filter(([path, text]) => path !== CALENDAR && before[path] !== text),
    );
  }

  /** Start and version of the review, and the number of keyed writes beyond the first import. */
  review(): { readonly start: string; readonly version: number; readonly writes: number } {
    const db = new DatabaseSync(join(this.desk, CALENDAR), { readOnly: true });
    try {
      const row = db
        .prepare("SELECT version, jcal FROM calendar_entry WHERE uid LIKE 'halden-review@%'")
        .get() as { version: number; jcal: string };
      const count = db.prepare('SELECT count(*) AS n FROM calendar_key').get() as { n: number };
      const start = /"dtstart",\{[^}]*\},"date-time","([^"]+)"/.exec(row.jcal)?.[1] ?? '';
      return { start, version: row.version, writes: count.n - 1 };
    } finally {
      db.close();
    }
  }

  close(): Promise<void> {
    return this.runtime.close();
  }
}

export type Told = {
  readonly session: string;
  readonly events: readonly LogEvent[];
  readonly status: string;
  readonly inDoubt: readonly string[];
  /** The last text of the model. */
  readonly text: string;
  readonly cost: number;
  readonly unusedSteps: number;
  readonly replayed: Replayed;
  readonly verified: Verified;
};

const CALENDAR = 'calendar.db';

/** Every file below a folder as latin1 text, by path, so that bytes can be compared and read. */
export const treeOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, 'latin1')]),
  );

export const digestOfTree = (folder: string): string =>
  createHash('sha256')
    .update(JSON.stringify(treeOf(folder)))
    .digest('hex');

const lastText = (events: readonly LogEvent[]): string => {
  const response = events.findLast((event) => event.type === 'response.received');
  const texts = response?.data.content.filter((block) => block.type === 'text') ?? [];
  return texts.map(({ text }) => text).join('\n');
};
