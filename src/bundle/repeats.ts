/**
 * Whether a text repeats a line of what was removed. Lines of at least REPEAT_LENGTH_MIN characters count, as they
 * are and as they stand within JSON text.
 */

/** Characters from which on a line that stands twice is taken for the same one. */
export const REPEAT_LENGTH_MIN = 16;

export class Repeats {
  /** Lines by their first characters. */
  readonly #lines = new Map<string, Set<string>>();

  add(text: string): void {
    for (const line of text.split(/[\r\n]+/)) {
      const trimmed = line.trim();
      this.#addLine(trimmed);
      const inJson = JSON.stringify(trimmed).slice(1, -1);
      if (inJson !== trimmed) this.#addLine(inJson);
    }
  }

  within(text: string): boolean {
    if (this.#lines.size === 0) return false;
    for (let at = 0; at + REPEAT_LENGTH_MIN <= text.length; at++) {
      const lines = this.#lines.get(text.slice(at, at + REPEAT_LENGTH_MIN));
      if (!lines) continue;
      for (const line of lines) if (text.startsWith(line, at)) return true;
    }
    return false;
  }

  #addLine(line: string): void {
    if (line.length < REPEAT_LENGTH_MIN) return;
    const start = line.slice(0, REPEAT_LENGTH_MIN);
    const known = this.#lines.get(start);
    if (known) known.add(line);
    else this.#lines.set(start, new Set([line]));
  }
}
