/**
 * Server-sent events, decoded from the bytes of a reply (WHATWG HTML, 9.2.6, without reconnection). The official SDK
 * hands out parsed events only, in which numbers beyond 2^53 and the exact text of an item are lost.
 */

/** `last`: the reply ended without the empty line that ends an event, so that it may be cut. */
export type ServerEvent = { readonly data: string; readonly last: boolean };

export class EventDecoder {
  readonly #utf8 = new TextDecoder();
  /** Text without a line end yet. */
  #rest = '';
  /** The text ended in CR: an LF that comes next belongs to it. */
  #afterReturn = false;
  #data: string[] = [];

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): readonly ServerEvent[] {
    return this.#lines(this.#utf8.decode(bytes, { stream: true }));
  }

  /** What stands unfinished at the end of the reply. */
  end(): readonly ServerEvent[] {
    const events = this.#lines(this.#utf8.decode());
    if (this.#rest !== '') this.#line(this.#rest);
    this.#rest = '';
    const data = this.#take();
    return data === undefined ? events : [...events, { data, last: true }];
  }

  #lines(text: string): readonly ServerEvent[] {
    if (text === '') return [];
    const fresh = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterReturn = text.endsWith('\r');
    // A pattern takes several times as long as a plain line end.
    const lines = fresh.split(fresh.includes('\r') ? /\r\n|\n|\r/ : '\n');
    const events: ServerEvent[] = [];
    for (const [i, piece] of lines.entries()) {
      if (i === lines.length - 1) {
        this.#rest = i === 0 ? this.#rest + piece : piece;
        break;
      }
      const line = i === 0 ? this.#rest + piece : piece;
      const data = line === '' ? this.#take() : this.#line(line);
      if (data !== undefined) events.push({ data, last: false });
    }
    return events;
  }

  /** Names, ids and comments carry nothing that the data does not say. */
  #line(line: string): undefined {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line === 'data') this.#data.push('');
  }

  #take(): string | undefined {
    if (this.#data.length === 0) return undefined;
    const data = this.#data.join('\n');
    this.#data = [];
    return data;
  }
}
