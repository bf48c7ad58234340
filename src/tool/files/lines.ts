/** Line ends: what a file uses, and a view with LF alone in which a model's text is found. */

export type LineEnds = 'lf' | 'crlf' | 'cr' | 'mixed' | 'none';

export const lineEndsOf = (text: string): LineEnds => {
  const crlf = text.includes('\r\n');
  const lf = /(?<!\r)\n/u.test(text);
  const cr = /\r(?!\n)/u.test(text);
  if (Number(crlf) + Number(lf) + Number(cr) > 1) return 'mixed';
  if (crlf) return 'crlf';
  if (lf) return 'lf';
  return cr ? 'cr' : 'none';
};

export const toLf = (text: string): string => text.replaceAll('\r\n', '\n');

/** Where each line starts, as string positions. A line ends with its LF. Text that ends with LF has no line after it. */
export const lineStarts = (text: string): readonly number[] => {
  const starts: number[] = [];
  for (let at = 0; at < text.length;) {
    starts.push(at);
    const end = text.indexOf('\n', at);
    at = end === -1 ? text.length : end + 1;
  }
  return starts;
};

/** 1-based number of the line that holds a position. */
export const lineAt = (text: string, position: number): number => {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
};

/** The text with every CRLF as LF, and the way back for positions. */
export type LfView = {
  readonly text: string;
  /** The position in the original of a position in the view. */
  readonly original: (position: number) => number;
};

export const lfView = (original: string): LfView => {
  if (!original.includes('\r\n')) return { text: original, original: (position) => position };
  // Position in the view of each LF that was a CRLF, ascending: the n-th one shifts what follows by n + 1.
  const folded: number[] = [];
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2))
    folded.push(at - folded.length);
  const before = (position: number): number => {
    let low = 0;
    let high = folded.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((folded[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { text: toLf(original), original: (position) => position + before(position) };
};

/** The line end in use around a position of the original: the nearest one before it, else after it, else LF. */
export const lineEndNear = (original: string, position: number): '\n' | '\r\n' => {
  const before = position === 0 ? -1 : original.lastIndexOf('\n', position - 1);
  const at = before === -1 ? original.indexOf('\n', position) : before;
  return at > 0 && original[at - 1] === '\r' ? '\r\n' : '\n';
};
