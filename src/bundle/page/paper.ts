/** What every section of the page needs: the reading, moments, limits, and the pieces that look the same everywhere. */
import type { Digest } from '../../event/canonical.ts';
import type { LogEvent } from '../../event/events.ts';
import type { Mark } from '../../view/event-line.ts';
import { formatClock, formatCount, formatDay, formatZone, shortDigest } from '../../view/format.ts';
import { attribute, lines, markup, NOTHING, type Markup } from '../../view/markup.ts';
import type { Reading } from '../../view/reading.ts';
import type { SessionRecord } from '../../view/record.ts';

/** Events whose rows are on a page; of a longer session the last ones. */
export const ROWS_MAX = 10_000;
/** Characters of one text that are shown. */
export const TEXT_LENGTH_MAX = 20_000;
/** Characters of all texts together; from there on each is shown to SHORT_LENGTH_MAX. */
export const PAGE_LENGTH_MAX: number = 32 * 1024 * 1024;
const SHORT_LENGTH_MAX = 400;

export class Paper {
  readonly reading: Reading;
  readonly record: SessionRecord;
  readonly zone: string;
  readonly hashOf: (seq: number) => Digest;
  readonly blob: (digest: Digest) => Promise<Uint8Array | undefined>;
  #length = 0;

  constructor(options: Pick<Paper, 'reading' | 'zone' | 'hashOf' | 'blob'>) {
    this.reading = options.reading;
    this.record = { events: options.reading.events, state: options.reading.state };
    this.zone = options.zone;
    this.hashOf = options.hashOf;
    this.blob = options.blob;
  }

  /** Whether texts are shown to their first characters only, because the page is long already. */
  get isFull(): boolean {
    return this.#length > PAGE_LENGTH_MAX;
  }

  /** The first event whose row is on the page. */
  get firstShown(): number {
    return Math.max(1, this.reading.events.length - ROWS_MAX + 1);
  }

  event(seq: number): LogEvent | undefined {
    return this.reading.events[seq - 1];
  }

  /** A text over several lines, cut where it is too long, and what was cut is counted. */
  text(text: string, limit: number = TEXT_LENGTH_MAX): Markup {
    const most = this.isFull ? Math.min(limit, SHORT_LENGTH_MAX) : limit;
    this.#length += Math.min(text.length, most);
    if (text.length <= most) return lines(text);
    const rest = text.length - most;
    // A pair of surrogates is not cut in two.
    const start = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
    return markup`${lines(start)}<span class="cut">… cut at ${formatCount(most)} of ${formatCount(text.length)} characters; ${formatCount(rest)} more are in the bundle</span>`;
  }

  block(text: string, limit?: number): Markup {
    return markup`<pre tabindex="0">${this.text(text, limit)}</pre>`;
  }

  /** What strangers wrote: the same ground everywhere, and where it is from. */
  outside(text: string, source: Markup): Markup {
    return markup`<blockquote class="quote"><div class="said" tabindex="0">${this.text(text)}</div><footer>${source}</footer></blockquote>`;
  }

  json(value: unknown, limit?: number): Markup {
    return this.block(JSON.stringify(value, null, 2) ?? '', limit);
  }

  /** JSON text as people read it; anything else as it is. */
  pretty(text: string, limit?: number): Markup {
    try {
      // Numbers that a double cannot hold would come out as others.
      if (/\d{16}/.test(text)) return this.block(text, limit);
      return this.json(JSON.parse(text), limit);
    } catch {
      return this.block(text, limit);
    }
  }

  clock(ms: number): Markup {
    const iso = Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : '';
    return markup`<time datetime="${attribute(iso)}" title="${attribute(iso)}">${formatClock(ms, this).slice(0, 8)}</time>`;
  }

  /** With its day and zone. */
  moment(ms: number): Markup {
    return markup`${this.clock(ms)} ${formatZone(ms, this)}, ${formatDay(ms, this).replace(/, [^,]*$/, '')}`;
  }

  seq(seq: number): Markup {
    return seq < this.firstShown
      ? markup`<span class="seq">${String(seq)}</span>`
      : markup`<a class="seq" href="#e${String(seq)}" aria-label="event ${String(seq)}">${String(seq)}</a>`;
  }
}

export const hash = (digest: string): Markup =>
  markup`<code class="hash" title="${attribute(digest)}">${shortDigest(digest)}</code>`;

export type State = 'run' | 'wait' | 'doubt' | 'done' | 'fail' | 'stop';

/** Signs that stand beside the word: nothing is told by colour alone. */
const SIGNS: Readonly<Record<State, string>> = {
  run: '◐',
  wait: '▲',
  doubt: '?',
  done: '✓',
  fail: '✗',
  stop: '⊘',
};

export const pill = (state: State, words: string): Markup =>
  markup`<span class="st ${state}"><span aria-hidden="true">${SIGNS[state]}</span> ${words}</span>`;

export const MARK_STATES: Readonly<Record<Mark, State | undefined>> = {
  fact: undefined,
  decision: undefined,
  ok: 'done',
  fail: 'fail',
  doubt: 'doubt',
  run: 'run',
  wait: 'wait',
  cancelled: 'stop',
};

export const fields = (rows: readonly (readonly [string, Markup | string | undefined])[]): Markup =>
  markup`<dl class="kv">${rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

export const fold = (
  summary: Markup,
  inside: Markup,
  { id, look }: { readonly id?: string; readonly look?: string } = {},
): Markup =>
  markup`<details${id === undefined ? NOTHING : markup` id="${attribute(id)}"`}${look === undefined ? NOTHING : markup` class="${attribute(look)}"`}><summary>${summary}</summary><div class="in">${inside}</div></details>`;

export type SectionOptions = {
  readonly id: string;
  readonly title: string;
  readonly note?: Markup | string;
};

export const section = ({ id, title, note }: SectionOptions, inside: readonly Markup[]): Markup =>
  markup`<section id="${attribute(id)}" aria-labelledby="${attribute(id)}-h"><h2 id="${attribute(id)}-h">${title}${note === undefined ? NOTHING : markup` <small>${note}</small>`}</h2>
${inside}</section>
`;
