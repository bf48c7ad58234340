/**
 * What a person decides about, drawn from the exact arguments: every kind of preview block, with nothing
 * cut and everything hidden made visible and counted. All strings come from others.
 */
import type { CalendarEntryView, CellChange, Preview, PreviewBlock } from '../../tool/preview.ts';
import { countOf, formatBytes } from '../../view/format.ts';
import { domainsIn, domainWords } from '../../view/domains.ts';
import { describeFindings, findings } from '../../view/reveal.ts';
import { cells, chop, pad, wrap } from './cells.ts';
import { diffLines } from './diff.ts';
import { fit, type Look } from './look.ts';
import {
  concat,
  dim,
  EMPTY,
  line,
  own,
  repeat,
  role,
  SIGN,
  strong,
  theirLines,
  theirs,
  type Shown,
} from './shown.ts';
import { table } from './table.ts';

export type PreviewOptions = {
  readonly look: Look;
  /** Addresses, URLs or domains the person knows: others that look like them are pointed out. */
  readonly known?: readonly string[];
};

type BlockOf<Kind extends PreviewBlock['kind']> = Extract<PreviewBlock, { kind: Kind }>;
type Field = { readonly name: string; readonly value: string; readonly warnings: readonly string[] };

const INDENT_CELLS = 2;

const warning = (sentence: string, indent: number, look: Look): Shown[] =>
  wrap(fit(line`${repeat(' ', indent)}${SIGN.wait} ${sentence}`, look), look.textColumns, {
    hanging: indent + 2,
  });

/** Lines of others' text behind an indent; on a terminal none is longer than the screen. */
const body = (text: string, lead: Shown, look: Look): Shown[] =>
  theirLines(text.replaceAll('\r\n', '\n')).flatMap((shown) => {
    const ready = fit(shown, look);
    const pieces = look.terminal ? wrap(ready, look.textColumns - cells(lead), { strict: true }) : [ready];
    return pieces.map((piece) =>
      piece.plain === '' && lead.plain.trim() === '' ? EMPTY : concat(lead, piece),
    );
  });

/** Names in one column, values beside them, each warning under its value. */
const fieldLines = (fields: readonly Field[], look: Look): Shown[] => {
  const width = Math.max(0, ...fields.map((field) => cells(fit(theirs(field.name), look))));
  const at = Math.min(INDENT_CELLS + width + 2, look.columns / 2);
  return fields.flatMap(({ name, value, warnings }) => {
    const lead = line`  ${fit(theirs(name), look)}`;
    const lines = body(value, repeat(' ', at), look);
    // A name too long for its column stands above its value.
    const beside = cells(lead) <= at - 2;
    const [first = EMPTY, ...more] = beside ? lines : [EMPTY, ...lines];
    return [
      first === EMPTY ? lead : concat(pad(lead, at), first.slice(at)),
      ...more,
      ...warnings.flatMap((sentence) => warning(sentence, at, look)),
    ];
  });
};

const hiddenWarnings = (texts: readonly string[], look: Look): Shown[] => {
  const sentences = texts.map((text) => describeFindings(findings(text))).filter((one) => one !== undefined);
  return [...new Set(sentences)].flatMap((sentence) => warning(sentence, INDENT_CELLS, look));
};

const textBlock = (block: BlockOf<'text'>, { look }: PreviewOptions): Shown[] => [
  ...(block.title === undefined ? [] : [line`  ${block.title}`]),
  ...body(block.text, line`  ${SIGN.margin} `, look),
];

const fieldsBlock = (block: BlockOf<'fields'>, { look }: PreviewOptions): Shown[] =>
  fieldLines(
    block.fields.map(({ name, value, warning: said }) => ({
      name,
      value,
      warnings: said === undefined ? [] : [said],
    })),
    look,
  );

const diffBlock = (block: BlockOf<'diff'>, { look }: PreviewOptions): Shown[] => [
  block.newFile
    ? line`  ${strong(block.path)}  new file, ${countOf(block.added, 'line')}`
    : line`  ${strong(block.path)}`,
  ...diffLines(block.patch, look),
];

/** Columns of the sample: the further right, the more air. */
const CELL_GAP = 3;
const AFTER_GAP = 4;

const changeRow = (change: CellChange): Record<string, Shown> => ({
  row: theirs(change.row),
  key: theirs(change.key ?? ''),
  column: theirs(change.column),
  now: change.before === undefined ? dim('new') : role('del', change.before),
  after: role('add', change.after),
});

const cellsBlock = (block: BlockOf<'cells'>, { look }: PreviewOptions): Shown[] => {
  const keyed = block.changes.some((change) => change.key !== undefined);
  const { lines } = table(
    [
      { key: 'row', title: own('row'), align: 'right' },
      ...(keyed ? [{ key: 'key', title: own('key') }] : []),
      { key: 'column', title: own('column'), gap: CELL_GAP },
      { key: 'now', title: own('now'), gap: CELL_GAP },
      { key: 'after', title: own('after'), gap: AFTER_GAP },
    ],
    block.changes.map(changeRow),
    // Nothing that a decision is about may be cut: as for a stream that is not a terminal.
    { look: { ...look, terminal: false }, indent: INDENT_CELLS },
  );
  const added = block.newRows === 0 ? EMPTY : line`, ${countOf(block.newRows, 'new row')}`;
  return [
    line`  ${strong(block.path)}`,
    line`  ${countOf(block.untouchedRows, 'other row')} ${block.untouchedRows === 1 ? 'stays' : 'stay'} byte for byte the same${added}`,
    EMPTY,
    ...lines,
  ];
};

const people = (name: string, addresses: readonly string[], familiar: readonly string[]): Field[] =>
  addresses.map((value, index) => ({
    name: index === 0 ? name : '',
    value,
    warnings: domainWords(value, familiar),
  }));

const mailBlock = (block: BlockOf<'mail'>, { look, known = [] }: PreviewOptions): Shown[] => {
  // A reply address is compared with whom the mail goes to: that is where the look-alikes are.
  const familiar = [...known, block.from, ...block.to];
  const fields: Field[] = [
    ...people('From', [block.from], known),
    ...people('To', block.to, known),
    ...people('Cc', block.cc, familiar),
    ...people('Bcc', block.bcc, familiar),
    ...(block.replyTo === undefined ? [] : people('Reply-To', [block.replyTo], familiar)),
    { name: 'Subject', value: block.subject, warnings: [] },
    ...block.attachments.map(({ name, bytes }, index) => ({
      name: index === 0 ? 'Attached' : '',
      value: `${name}, ${formatBytes(bytes)}`,
      warnings: [],
    })),
  ];
  return [...fieldLines(fields, look), EMPTY, ...body(block.body, own('  '), look)];
};

const entryFields = (entry: CalendarEntryView): readonly (readonly [string, string])[] => [
  ['Title', entry.title],
  ['When', entry.when],
  ['UTC', entry.utc ?? ''],
  ['Where', entry.where ?? ''],
  ['Repeats', entry.repeats ?? ''],
];

const sideBySide = (before: CalendarEntryView, after: CalendarEntryView, look: Look): readonly Shown[] => {
  const rows = entryFields(before)
    .map(([name, now], index) => ({ name, now, later: entryFields(after)[index]?.[1] ?? '' }))
    .filter(({ now, later }) => now !== '' || later !== '');
  const { lines } = table(
    [
      { key: 'name', title: EMPTY },
      { key: 'now', title: own('now') },
      { key: 'after', title: own('after'), gap: AFTER_GAP },
    ],
    rows.map(({ name, now, later }) => ({
      name: theirs(name),
      now: now === later ? theirs(now) : role('del', now),
      after: now === later ? dim('the same') : role('add', later === '' ? 'none' : later),
    })),
    { look: { ...look, terminal: false }, indent: INDENT_CELLS },
  );
  return lines;
};

const entryLines = (heading: Shown, entry: CalendarEntryView, look: Look): Shown[] => [
  line`  ${heading}`,
  ...fieldLines(
    entryFields(entry)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => ({ name, value, warnings: [] })),
    look,
  ),
];

const calendarBlock = (block: BlockOf<'calendar'>, { look }: PreviewOptions): Shown[] => {
  const { before, after } = block;
  const beside = before && after ? sideBySide(before, after, look) : [];
  const fits = beside.length > 0 && beside.every((shown) => cells(shown) <= look.columns);
  const below = [
    ...(before ? entryLines(after ? own('Now') : own('Will be removed'), before, look) : []),
    ...(after ? entryLines(before ? own('After') : own('New entry'), after, look) : []),
  ];
  const conflicts =
    block.conflicts.length === 0
      ? [line`  No conflict found.`]
      : block.conflicts.flatMap((conflict) => warning(`conflict: ${conflict}`, INDENT_CELLS, look));
  return [...(fits ? beside : below), ...conflicts];
};

const METHOD_UNITS_MAX = 8;

const httpBlock = (block: BlockOf<'http'>, { look, known = [] }: PreviewOptions): Shown[] => {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(block.url);
  const shown = url === null ? theirs(block.url) : concat(url[1] ?? '', strong(url[2] ?? ''), url[3] ?? '');
  const { method } = block;
  // A method is a word; what is longer than that stands above.
  const above = method.length > METHOD_UNITS_MAX ? body(method, own('  '), look) : [];
  const lead = above.length > 0 ? own('  ') : line`  ${strong(fit(theirs(method), look))} `;
  const below = repeat(' ', cells(lead));
  const pieces = look.terminal ? chop(fit(shown, look), look.textColumns - cells(lead)) : [shown];
  const headers = block.headers.map(([name, value]) => ({ name, value, warnings: [] }));
  return [
    ...above,
    ...pieces.map((piece, index) => concat(index === 0 ? lead : below, piece)),
    ...domainWords(block.url, known).flatMap((sentence) => warning(sentence, INDENT_CELLS, look)),
    ...fieldLines(headers, look),
    ...(block.body === undefined ? [] : [EMPTY, ...body(block.body, line`  ${SIGN.margin} `, look)]),
  ];
};

const blockLines = (block: PreviewBlock, options: PreviewOptions): Shown[] => {
  switch (block.kind) {
    case 'text':
      return textBlock(block, options);
    case 'fields':
      return fieldsBlock(block, options);
    case 'diff':
      return diffBlock(block, options);
    case 'cells':
      return cellsBlock(block, options);
    case 'mail':
      return mailBlock(block, options);
    case 'calendar':
      return calendarBlock(block, options);
    case 'http':
      return httpBlock(block, options);
    default:
      return block satisfies never;
  }
};

/** Every string of a block, to count what is hidden in it. */
const stringsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
};

/** Texts whose domains have no line of their own with a warning under it. */
const proseOf = (block: PreviewBlock): readonly string[] => {
  if (block.kind === 'mail') return [block.subject, block.body];
  return block.kind === 'http' ? stringsOf([block.headers, block.body]) : stringsOf(block);
};

/** Of two domains of a block that look alike the second one is pointed out. */
const proseWarnings = (block: PreviewBlock, { look, known = [] }: PreviewOptions): Shown[] => {
  const addresses = block.kind === 'mail' ? [block.from, ...block.to, ...block.cc, ...block.bcc] : [];
  const domains = domainsIn(proseOf(block));
  return domains.flatMap((domain, index) =>
    domainWords(domain, [...known, ...addresses, ...domains.slice(0, index)]).flatMap((words) =>
      warning(words.startsWith(domain) ? words : `${domain} ${words}`, INDENT_CELLS, look),
    ),
  );
};

/** One block with warnings for what is hidden in it and for domains that look like others. */
export const previewBlockLines = (block: PreviewBlock, options: PreviewOptions): Shown[] => [
  ...blockLines(block, options),
  ...proseWarnings(block, options),
  ...hiddenWarnings([stringsOf(block).join('\n')], options.look),
];

/** All blocks, an empty line between them, then the warnings of the preview. The title is the caller's. */
export const previewLines = (preview: Preview, options: PreviewOptions): Shown[] => [
  ...preview.blocks.flatMap((block, index) => [
    ...(index === 0 ? [] : [EMPTY]),
    ...previewBlockLines(block, options),
  ]),
  ...((preview.warnings?.length ?? 0) > 0 ? [EMPTY] : []),
  ...(preview.warnings ?? []).flatMap((sentence) => warning(sentence, INDENT_CELLS, options.look)),
];
