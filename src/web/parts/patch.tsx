/** A unified diff: numbers, signs and words that differ. Lines wrap: nothing of it hides beyond an edge. */
import { useMemo, useState, type ReactNode } from 'react';
import { countOf, formatCount } from '../../view/format.ts';
import { markedWords, patchParts, type Marked, type PatchLine, type PatchPart } from '../../view/patch.ts';
import { Revealed } from './text.tsx';

/** Lines that are drawn before the reader asks for the rest. */
const LINES_SHOWN = 2000;

type Row =
  | { readonly kind: 'line'; readonly line: PatchLine; readonly marked: Marked | undefined }
  | Exclude<PatchPart, { readonly kind: 'line' }>;

export const Patch = ({
  patch,
  name,
  note,
}: {
  readonly patch: string;
  /** What is changed: a path, "arguments". */
  readonly name: string;
  readonly note?: string;
}): ReactNode => {
  const rows = useMemo(() => rowsOf(patch), [patch]);
  const [isAll, setAll] = useState(false);
  if (rows === undefined)
    return (
      <div className="patch">
        <p className="patch-head">
          <Revealed text={name} /> <span className="push">not a well-formed patch, shown as it is</span>
        </p>
        <pre className="raw">
          <Revealed text={patch} newlines tabs indent />
        </pre>
      </div>
    );
  const shown = isAll ? rows : rows.slice(0, LINES_SHOWN);
  const left = rows.length - shown.length;
  return (
    <div className="patch">
      <p className="patch-head">
        <span className="path">
          <Revealed text={name} />
        </span>
        {note !== undefined && <span className="push">{note}</span>}
      </p>
      {shown.map((row, at) => (
        <PatchRow key={at} row={row} />
      ))}
      {left > 0 && (
        <p className="patch-rest" data-unread="">
          {countOf(left, 'more line')} of {formatCount(rows.length)}.{' '}
          <button className="button small" type="button" onClick={() => setAll(true)}>
            Show all
          </button>
        </p>
      )}
    </div>
  );
};

const PatchRow = ({ row }: { readonly row: Row }): ReactNode => {
  if (row.kind === 'equal')
    return row.count === 0 ? null : <p className="equal">{countOf(row.count, 'equal line')}</p>;
  if (row.kind === 'no-newline') return <p className="equal">no line feed at the end</p>;
  const { sign, number, text } = row.line;
  const { kind, word } = SIGNS[sign];
  return (
    <div className={`line ${kind}`}>
      <span className="line-number" aria-hidden="true">
        {number}
      </span>
      <span className="sign">
        <span aria-hidden="true">{sign === '-' ? '−' : sign}</span>
        {word !== '' && <span className="unseen">{word}: </span>}
      </span>
      <code>{row.marked ? <Words marked={row.marked} /> : <Revealed text={text} tabs indent />}</code>
    </div>
  );
};

const SIGNS = {
  '-': { kind: 'del', word: 'removed' },
  '+': { kind: 'add', word: 'added' },
  ' ': { kind: 'same', word: '' },
} as const;

const Words = ({ marked: { before, changed, after } }: { readonly marked: Marked }): ReactNode => (
  <>
    <Revealed text={before} tabs indent />
    {changed !== '' && (
      <mark>
        <Revealed text={changed} tabs />
      </mark>
    )}
    <Revealed text={after} tabs />
  </>
);

const rowsOf = (patch: string): readonly Row[] | undefined => {
  const parts = patchParts(patch);
  if (!parts) return undefined;
  const rows: Row[] = parts.map((part) => (part.kind === 'line' ? { ...part, marked: undefined } : part));
  for (let at = 0; at < rows.length;) {
    const gone = runOf(rows, at, '-');
    const come = runOf(rows, at + gone, '+');
    // As many lines for as many: each stands for the one before it.
    if (gone > 0 && gone === come) for (let i = 0; i < gone; i++) markPair(rows, at + i, at + gone + i);
    at += Math.max(1, gone + come);
  }
  return rows;
};

const runOf = (rows: readonly Row[], from: number, sign: PatchLine['sign']): number => {
  let at = from;
  for (let row = rows[at]; row?.kind === 'line' && row.line.sign === sign; row = rows[at]) at++;
  return at - from;
};

const markPair = (rows: Row[], old: number, now: number): void => {
  const [before, after] = [rows[old], rows[now]];
  if (before?.kind !== 'line' || after?.kind !== 'line') return;
  const [left, right] = markedWords(before.line.text, after.line.text);
  // Where nothing is in common, marks say nothing.
  if (left.before.trim() === '' && left.after.trim() === '') return;
  rows[old] = { ...before, marked: left };
  rows[now] = { ...after, marked: right };
};
