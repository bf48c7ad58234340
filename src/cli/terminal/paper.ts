/** Both streams of the console, with the line of progress kept below everything else. */
import { cut } from './cells.ts';
import { fit, render, type Look, type OutputStream } from './look.ts';
import type { Painter } from './progress.ts';
import type { Shown } from './shown.ts';

const ERASE_LINE = '\r\u001b[2K';

export type PaperOptions = {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly look: Look;
  readonly noteLook: Look;
  /** No progress at all. */
  readonly quiet: boolean;
};

export class Paper implements Painter {
  readonly #options: PaperOptions;
  /** The progress that stands on the terminal, empty for none. */
  #painted = '';
  /** A question stands on the terminal. */
  #holding = false;
  /** The cursor is behind unfinished text, which erasing the line would take away. */
  #lineOpen = false;
  #stdoutGone = false;

  constructor(options: PaperOptions) {
    this.#options = options;
    options.stdout.on('error', (error: NodeJS.ErrnoException) => {
      // The reader of a pipe has gone (`| head`): nothing more to say to it.
      if (error.code !== 'EPIPE') throw error;
      this.#stdoutGone = true;
    });
  }

  get live(): boolean {
    return this.#options.noteLook.erase;
  }

  write(to: 'stdout' | 'stderr', text: string | Uint8Array): void {
    if (to === 'stdout' && this.#stdoutGone) return;
    const { look, noteLook } = this.#options;
    if (!(to === 'stdout' ? look : noteLook).terminal) {
      this.#options[to].write(text as string);
      return;
    }
    const painted = this.#painted;
    this.erase();
    this.#options[to].write(text as string);
    if (text.length > 0) this.#lineOpen = typeof text !== 'string' || !text.endsWith('\n');
    if (painted !== '' && !this.#lineOpen) this.#put(painted);
  }

  /** No progress while a question stands. */
  hold(holding: boolean): void {
    this.#holding = holding;
    if (holding) this.erase();
  }

  paint(shown: Shown): void {
    const { noteLook: look, stderr, quiet } = this.#options;
    if (quiet || this.#holding || (look.terminal && this.#lineOpen)) return;
    if (!look.erase) {
      stderr.write(`${render(shown, look)}\n`);
      return;
    }
    const painted = render(cut(fit(shown, look), look.columns - 1, look.ascii), look);
    if (painted === this.#painted) return;
    this.erase();
    this.#put(painted);
  }

  erase(): void {
    if (this.#painted !== '') this.#options.stderr.write(ERASE_LINE);
    this.#painted = '';
  }

  #put(painted: string): void {
    this.#options.stderr.write(painted);
    this.#painted = painted;
  }
}
