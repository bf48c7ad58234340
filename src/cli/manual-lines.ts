/** A page of the documentation for a terminal: prose at its width, code and pictures as they stand. */
import type { MarkedToken, Token, Tokens } from 'marked';
import { plainText } from '../manual/markdown.ts';
import { cells, pad, wrap } from './terminal/cells.ts';
import { fit, type Look } from './terminal/look.ts';
import { concat, EMPTY, join, own, pen, repeat, strong, theirs, type Shown } from './terminal/shown.ts';

const INDENT_CELLS = 2;
/** Prose is easier to read in shorter lines than a wide terminal has. */
const COLUMNS_MAX = 88;
const FIRST_COLUMN_MAX = 30;

export const manualLines = (tokens: readonly Token[], look: Look): Shown[] => {
  const lines = tokens.flatMap((token) => blockLines(token as MarkedToken, look));
  while (lines.at(-1) === EMPTY) lines.pop();
  return lines;
};

const blockLines = (token: MarkedToken, look: Look): Shown[] => {
  switch (token.type) {
    case 'heading':
      return [...wrapped(strong(spoken(token.tokens)), look), EMPTY];
    case 'paragraph':
      return [...wrapped(spoken(token.tokens), look), EMPTY];
    case 'code':
      return [
        ...token.text.split('\n').map((words) => concat(repeat(' ', INDENT_CELLS), asWritten(words))),
        EMPTY,
      ];
    case 'list':
      return [...token.items.flatMap((item, at) => itemLines(item, mark(token, at), look)), EMPTY];
    case 'table':
      return [...tableLines(token, look), EMPTY];
    case 'blockquote':
      return token.tokens.flatMap((inner) => blockLines(inner as MarkedToken, look));
    default:
      return [];
  }
};

const mark = ({ ordered, start }: Tokens.List, at: number): Shown =>
  ordered ? theirs(`${Number(start || 1) + at}. `) : own('- ');

const widthOf = (look: Look): number => Math.min(look.textColumns, COLUMNS_MAX);

const wrapped = (shown: Shown, look: Look, hanging: number = 0): Shown[] =>
  wrap(fit(shown, look), widthOf(look), { hanging });

const itemLines = ({ tokens }: Tokens.ListItem, sign: Shown, look: Look): Shown[] => {
  const [first, ...rest] = tokens.filter(({ type }) => type !== 'space');
  const inner = first && 'tokens' in first ? (first.tokens ?? []) : [];
  return [
    ...wrapped(concat(sign, spoken(inner)), look, cells(sign)),
    ...rest
      .flatMap((token) => blockLines(token as MarkedToken, look))
      .filter((shown) => shown !== EMPTY)
      .map((shown) => concat(repeat(' ', cells(sign)), shown)),
  ];
};

/** The first cell in its column, the others behind it. */
const tableLines = ({ header, rows }: Tokens.Table, look: Look): Shown[] => {
  const named = header.some(({ text }) => text.trim() !== '');
  const shownRows = [
    ...(named ? [header.map(({ tokens }) => strong(spoken(tokens)))] : []),
    ...rows.map((row) => row.map(({ tokens }) => spoken(tokens))),
  ].map((row) => row.map((cell) => fit(cell, look)));
  const width = Math.min(FIRST_COLUMN_MAX, Math.max(...shownRows.map(([first = EMPTY]) => cells(first)))) + 2;
  return shownRows.flatMap(([first = EMPTY, ...others]) => {
    const head = pad(first, Math.max(width, cells(first) + 2));
    const behind = join(
      others.filter((cell) => cells(cell) > 0),
      own(' · '),
    );
    return wrap(concat(head, behind), widthOf(look), { hanging: width });
  });
};

/** Words with the roles of their marks; where a link leads is in the file. */
const spoken = (tokens: readonly Token[] | undefined): Shown =>
  concat(...(tokens ?? []).map((token) => spokenOne(token as MarkedToken)));

const spokenOne = (token: MarkedToken): Shown => {
  switch (token.type) {
    case 'strong':
      return strong(spoken(token.tokens));
    case 'codespan':
      return pen(asWritten(token.text.replaceAll('\n', ' ')));
    case 'br':
      return own(' ');
    case 'link':
    case 'em':
    case 'del':
      return spoken(token.tokens);
    case 'image':
      return theirs(token.text);
    default:
      return asWritten(plainText([token]).replaceAll('\n', ' '));
  }
};

/** Runs of spaces are what pictures are made of. */
const asWritten = (text: string): Shown =>
  concat(
    ...text.split(/( +)/).map((part) => (part.startsWith(' ') ? repeat(' ', part.length) : theirs(part))),
  );
