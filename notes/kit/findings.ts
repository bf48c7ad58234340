/** What a run found: pieces that its page quotes, the evidence beside it, and what was shown and what was not. */
import { AssertionError } from 'node:assert';
import { textTable } from './text-table.ts';

export type Claim = {
  /** `shown`: seen in this run. `not-shown`: not tried at all, as the page says. `absent`: could not be tried here. */
  readonly state: 'shown' | 'not-shown' | 'absent';
  readonly what: string;
  /** What was looked at, or why it was not. */
  readonly by: string;
};

export type EvidenceFile = {
  readonly text: string;
  /** Another run writes it with other ids, times or digests: it is proved, not compared. */
  readonly varies: boolean;
};

export class Findings {
  readonly pieces: Map<string, string> = new Map();
  readonly figures: Set<string> = new Set();
  readonly claims: Claim[] = [];
  readonly files: Map<string, EvidenceFile> = new Map();
  /** Pieces that this machine cannot give, with the reason. */
  readonly absent: Map<string, string> = new Map();

  /** What is only printed: it belongs to this run, and no page quotes it. */
  readonly asides: string[] = [];

  aside(text: string): void {
    this.asides.push(text);
  }

  /** A fenced block of the page. */
  piece(name: string, text: string): void {
    this.pieces.set(name, `${text.trimEnd()}\n`);
  }

  /** Words with a figure in them, as the page says them in backticks. */
  figure(words: string): void {
    this.figures.add(words);
  }

  file(path: string, text: string): void {
    this.files.set(path, { text, varies: false });
  }

  bundle(path: string, text: string): void {
    this.files.set(path, { text, varies: true });
  }

  varying(path: string, text: string): void {
    this.files.set(path, { text, varies: true });
  }

  /** Throws where it does not hold: then the note has failed. */
  shown(what: string, by: string, holds: () => void): void {
    try {
      holds();
    } catch (error) {
      if (error instanceof AssertionError) error.message = `Not so: ${what}. ${error.message}`;
      throw error;
    }
    this.claims.push({ state: 'shown', what, by });
  }

  /** Nobody claims it, on any machine. */
  notShown(what: string, why: string): void {
    this.claims.push({ state: 'not-shown', what, by: why });
  }

  /** It is shown where something is there that is not there here. `pieces` are those of the page that need it. */
  without(what: string, why: string, pieces: readonly string[]): void {
    this.claims.push({ state: 'absent', what, by: why });
    for (const piece of pieces) this.absent.set(piece, why);
  }

  /** The table of what was shown and what was not. */
  table(): string {
    return textTable(this.claims.map(({ state, what, by }) => [SIGN[state], what, by]));
  }
}

export const SIGN = { shown: '✓', 'not-shown': '·', absent: '✗' } as const;
