/**
 * Tells people that something waits for them: a question, one that went to further people, a call in doubt. Told
 * at least once and said so in the log (`notice.sent`); a process that stops in between leaves it to the next one,
 * and the notice has the same id then. Telling is no part of the work: a channel that fails holds nothing up.
 */
import type { Clock } from '../clock.ts';
import type { Digest } from '../event/canonical.ts';
import { sha256 } from '../event/canonical.ts';
import type { CallId } from '../event/call-id.ts';
import type { EventData } from '../event/events.ts';
import type { LogStore } from '../log/store.ts';
import { untold, type Untold } from '../session/notices.ts';
import type { SessionState } from '../session/state.ts';
import type { Logger } from '../tool/tool.ts';
import { sleep } from './jobs.ts';
import type { KnownSessions } from './known-sessions.ts';
import { describeThrown } from './thrown.ts';

/** What people are told. No arguments: they may be private, and a channel is not the place to decide. */
export type Notice = {
  /** The same every time this notice is sent. */
  readonly id: string;
  readonly kind: 'approval.requested' | 'approval.escalated' | 'call.in_doubt';
  readonly session: string;
  readonly agent: string;
  readonly title: string;
  readonly call: CallId;
  readonly tool: string;
  /** The heading of the preview; empty where there is none. */
  readonly about: string;
  /** Names the question: a decision has to say it. Absent for a call in doubt. */
  readonly digest?: Digest;
  /** Who may decide: names and `role:NAME`. Absent: whoever may decide at all. */
  readonly by?: readonly string[];
  /** Wall time, milliseconds since 1970 UTC. */
  readonly expiresAt?: number;
};

export type Channel = {
  /** 1 to 64 of a-z 0-9 and "-"; stands in the log. */
  readonly name: string;
  /** Throws where it could not be delivered; tried again then. Stops when the signal is aborted. */
  deliver(notice: Notice, context: { readonly signal: AbortSignal; readonly now: number }): Promise<void>;
};

export const NOTICE_ATTEMPTS_MAX = 5;
/** One delivery takes no longer. */
export const NOTICE_MS = 15_000;
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
/** Sessions that are told of side by side. */
const SESSIONS_AT_ONCE = 8;
const SESSIONS_LOOKED_AT = 1000;
/** Several changes in a row are one reason to look. */
const LOOK_MS = 100;
const PROBLEM_LENGTH_MAX = 300;

export type NotifierOptions = {
  readonly store: LogStore;
  readonly sessions: KnownSessions;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly log: Logger;
};

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #stop = new AbortController();
  #planned = false;
  #looking: Promise<void> | undefined;
  /** The look after the one under way. */
  #following: Promise<void> | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Something may have to be told. A hint: it may be late or repeated. */
  hint(): void {
    if (this.#planned || this.#stop.signal.aborted || this.#options.channels.length === 0) return;
    this.#planned = true;
    this.#options.clock.after(LOOK_MS, () => {
      this.#planned = false;
      this.look().catch((error: unknown) => this.#warn('', error));
    });
  }

  /** Tells everything that nobody was told of when it is asked; resolves when that is done. */
  look(): Promise<void> {
    if (!this.#looking) {
      this.#looking = this.#tellAll().finally(() => (this.#looking = undefined));
      return this.#looking;
    }
    // The look under way may have passed by what came since it began. How it ends is told to whoever asked for it.
    this.#following ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined;
        return this.look();
      });
    return this.#following;
  }

  /** Stops what is under way; what was not told is told by the next process. */
  stop(): void {
    this.#stop.abort();
  }

  async #tellAll(): Promise<void> {
    const { store, channels } = this.#options;
    if (channels.length === 0) return;
    const rows = await store.sessions({ untold: true, limit: SESSIONS_LOOKED_AT });
    const left = rows.map(({ session }) => session);
    const one = async (): Promise<void> => {
      for (let session = left.pop(); session !== undefined; session = left.pop()) {
        if (this.#stop.signal.aborted) return;
        await this.#tellSession(session).catch((error: unknown) => this.#warn(session, error));
      }
    };
    await Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, one));
  }

  async #tellSession(session: string): Promise<void> {
    const { sessions, channels } = this.#options;
    const state = await sessions.state(session);
    for (const { call, topic } of untold(state)) {
      const notice = noticeOf(state, { call, topic });
      const told = await Promise.all(channels.map((channel) => this.#deliver(channel, notice)));
      if (this.#stop.signal.aborted) return;
      const data = { call: call.id, topic, channels: told };
      await sessions.append(session, (now) =>
        untold(now).some((one) => one.call.id === call.id && one.topic === topic)
          ? [{ fact: { type: 'notice.sent', data }, blobs: [] }]
          : [],
      );
    }
  }

  async #deliver(channel: Channel, notice: Notice): Promise<Told> {
    const { clock } = this.#options;
    let problem = '';
    for (let attempts = 1; attempts <= NOTICE_ATTEMPTS_MAX; attempts++) {
      try {
        await this.#inTime(channel, notice);
        return { name: channel.name, attempts };
      } catch (thrown) {
        problem = describeThrown(thrown).message.slice(0, PROBLEM_LENGTH_MAX).toWellFormed();
      }
      if (this.#stop.signal.aborted) break;
      if (attempts < NOTICE_ATTEMPTS_MAX)
        await sleep(clock, Math.min(RETRY_MS * 2 ** (attempts - 1), RETRY_MS_MAX), this.#stop.signal);
    }
    this.#options.log.warn(`${channel.name} could not tell of ${notice.session} ${notice.call}: ${problem}`);
    return { name: channel.name, attempts: NOTICE_ATTEMPTS_MAX, problem };
  }

  /** A channel that does not answer is given up; what it does after that counts for nothing. */
  async #inTime(channel: Channel, notice: Notice): Promise<void> {
    const { clock } = this.#options;
    const abort = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    const give = (why: string): void => {
      reject(new Error(why));
      abort.abort(new Error(why));
    };
    const timer = clock.after(NOTICE_MS, () => give(`no answer within ${NOTICE_MS} ms`));
    const stopped = (): void => give('the runtime is closing');
    this.#stop.signal.addEventListener('abort', stopped, { once: true });
    try {
      await Promise.race([channel.deliver(notice, { signal: abort.signal, now: clock.now() }), promise]);
    } finally {
      timer.cancel();
      this.#stop.signal.removeEventListener('abort', stopped);
    }
  }

  #warn(session: string, error: unknown): void {
    // The store is closing, too: what was not recorded is told again.
    if (this.#stop.signal.aborted) return;
    this.#options.log.warn(describeThrown(error).message, { session });
  }
}

type Told = EventData['notice.sent']['channels'][number];

const KINDS = {
  asked: 'approval.requested',
  escalated: 'approval.escalated',
  'in-doubt': 'call.in_doubt',
} as const;

const NOTICE_ID_LENGTH = 32;

const noticeOf = (state: SessionState, { call, topic }: Untold): Notice => {
  const [word = 'asked'] = topic.split(' ');
  const { terms, digest } = call;
  return {
    id: `notice_${sha256(`notice ${state.session} ${call.id} ${topic}`).slice(0, NOTICE_ID_LENGTH)}`,
    kind: KINDS[word as keyof typeof KINDS],
    session: state.session,
    agent: state.agent.name,
    title: state.title,
    call: call.id,
    tool: call.tool,
    about: call.prepared?.title ?? '',
    ...(word !== 'in-doubt' && digest !== undefined && { digest }),
    ...(terms?.by && { by: terms.by }),
    ...(terms?.expiresAt !== undefined && { expiresAt: terms.expiresAt }),
  };
};
