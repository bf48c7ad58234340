/**
 * A session as it runs, printed: each event once, in order, model text as it comes. Lines above are never
 * written again; what is under way stands on stderr as progress.
 */
import type { CallId } from '../event/call-id.ts';
import type { LogEvent } from '../event/events.ts';
import type { EventLine } from '../view/event-line.ts';
import type { Reading } from '../view/reading.ts';
import { transcriptLine } from '../view/transcript.ts';
import type { StreamDelta } from '../worker/jobs.ts';
import { bodyLines, eventShown, gutter, layoutFor, BODY_INDENT, type LineLayout } from './session-lines.ts';
import type { Progress } from './terminal/progress.ts';
import type { Screen } from './terminal/screen.ts';
import { line, SIGN, theirs } from './terminal/shown.ts';
import type { TextStream } from './terminal/stream.ts';

type Streaming = { readonly name: string; readonly text: TextStream };

export class LiveOutput {
  readonly reading: Reading;
  readonly #screen: Screen;
  readonly #me: string;
  #streaming: Streaming | undefined;
  /** Text of requests whose line has not been printed yet. */
  readonly #early = new Map<string, string>();
  /** What is under way, oldest first. */
  readonly #running = new Map<string, string>();
  #progress: { readonly name: string; readonly line: Progress } | undefined;

  /** `reading` holds what is not to be printed any more. */
  constructor(screen: Screen, reading: Reading, me: string) {
    this.#screen = screen;
    this.reading = reading;
    this.#me = me;
  }

  event(event: LogEvent): void {
    this.reading.push(event);
    if (this.#screen.jsonMode) {
      const { seq, at, type, data } = event;
      return this.#screen.jsonLine({ event: { seq, at, type, data } });
    }
    this.#print(event);
    this.#note(event);
    this.#catchUp();
  }

  /** Text as the model produces it in this process. */
  delta(delta: StreamDelta): void {
    const { jsonMode, quiet, look } = this.#screen;
    if (delta.type !== 'text' || jsonMode || quiet || !look.terminal) return;
    const name = streamName(delta);
    // The request may have been committed and not yet been read back from the log.
    this.#early.set(name, (this.#early.get(name) ?? '') + delta.text);
    this.#catchUp();
  }

  end(): void {
    this.#endStream();
    this.#progress?.line.end();
    this.#progress = undefined;
  }

  get #layout(): LineLayout {
    return layoutFor(this.#screen.look, this.reading.state.agent.tools);
  }

  #print(event: LogEvent): void {
    if (this.#screen.quiet) return;
    const told = transcriptLine(this.reading, event, { me: this.#me, requests: true });
    const streamed = event.type === 'response.received' && this.#streaming?.name === streamName(event.data);
    if (!told) return;
    this.#endStream();
    if (streamed) this.#screen.out(eventShown(told, { ...this.#layout, continues: true }));
    else this.#screen.out(...this.#lines(told));
  }

  #lines(told: EventLine): ReturnType<typeof bodyLines> {
    const head = eventShown(told, this.#layout);
    return told.who === 'model' && told.body !== undefined
      ? [head, ...bodyLines(told.body, this.#screen.look)]
      : [head];
  }

  /** Prints what has come for the open request. */
  #catchUp(): void {
    const { active } = this.reading.state;
    const { request } = active ?? {};
    if (!active || request?.phase !== 'open') return;
    const name = streamName({ turn: active.turn, step: request.step, attempt: request.attempt });
    const text = this.#early.get(name);
    if (text === undefined || text === '') return;
    this.#early.clear();
    if (this.#streaming?.name !== name) {
      this.#endStream();
      this.#stop(`request`);
      // No seq yet: the line with it, and with the numbers, follows when the answer is on record.
      this.#screen.out(line`${gutter(undefined)} ${SIGN.fact} model`);
      this.#streaming = { name, text: this.#screen.stream(BODY_INDENT) };
    }
    this.#streaming.text.push(text);
  }

  #endStream(): void {
    this.#streaming?.text.end();
    this.#streaming = undefined;
  }

  /** Keeps the line of progress on the oldest thing under way. */
  #note(event: LogEvent): void {
    switch (event.type) {
      case 'request.built':
      case 'request.sent':
        return this.#start('request', `request ${this.reading.requests.length}`);
      case 'response.received':
      case 'request.failed':
        return this.#stop('request');
      case 'call.started':
        return this.#start(event.data.call, this.#tool(event.data.call));
      case 'call.result':
      case 'call.doubted':
        return this.#stop(event.data.call);
      case 'driver.changed':
        for (const name of this.#running.keys()) this.#stop(name);
        return;
      default:
        return;
    }
  }

  #tool(id: CallId): string {
    return this.reading.call(id).tool;
  }

  #start(name: string, label: string): void {
    this.#running.set(name, label);
    this.#show();
  }

  #stop(name: string): void {
    this.#running.delete(name);
    this.#show();
  }

  #show(): void {
    const [oldest] = this.#running;
    if (this.#progress && this.#progress.name !== oldest?.[0]) {
      this.#progress.line.end();
      this.#progress = undefined;
    }
    if (!oldest) return;
    this.#progress ??= { name: oldest[0], line: this.#screen.progress(theirs(oldest[1])) };
    const more = this.#running.size - 1;
    this.#progress.line.set(more === 0 ? {} : { note: line`${more} more` });
  }
}

const streamName = ({ turn, step, attempt }: { turn: number; step: number; attempt: number }): string =>
  `${turn}.${step}#${attempt}`;
