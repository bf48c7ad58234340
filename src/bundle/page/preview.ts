/** What a person was shown before a call ran, block by block. Every string comes from others. */
import type { CalendarEntryView, Preview, PreviewBlock } from '../../tool/preview.ts';
import { countOf, formatBytes } from '../../view/format.ts';
import { lines, markup, NOTHING, type Markup } from '../../view/markup.ts';
import { lookAlike } from '../../view/look-alike.ts';
import { fields, type Paper } from './paper.ts';

type BlockOf<Kind extends PreviewBlock['kind']> = Extract<PreviewBlock, { kind: Kind }>;

export const previewMarkup = (paper: Paper, { blocks, warnings = [] }: Preview): Markup =>
  markup`${warnings.map(warning)}${blocks.map((one) => markup`<div class="blk">${block(paper, one)}</div>`)}`;

const warning = (text: string): Markup => markup`<p class="warn">▲ ${text}</p>`;

const block = (paper: Paper, one: PreviewBlock): Markup => {
  switch (one.kind) {
    case 'text':
      return markup`${title(one.title)}${paper.block(one.text)}`;
    case 'fields':
      return fields(
        one.fields.map(({ name, value, warning: said }) => [
          name,
          markup`${lines(value)}${said === undefined ? NOTHING : warning(said)}`,
        ]),
      );
    case 'diff':
      return diff(one);
    case 'cells':
      return cells(one);
    case 'mail':
      return mail(paper, one);
    case 'calendar':
      return calendar(one);
    case 'http':
      return markup`${fields([
        ['Method', one.method],
        ['URL', one.url],
        ...one.headers.map(([name, value]) => [name, value] as const),
      ])}${one.body === undefined ? NOTHING : paper.pretty(one.body)}`;
    default:
      return one satisfies never;
  }
};

const title = (text: string | undefined): Markup => (text === undefined ? NOTHING : markup`<h4>${text}</h4>`);

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

const diff = ({ path, patch, added, removed, newFile }: BlockOf<'diff'>): Markup => {
  let [before, after] = [0, 0];
  const rows = patch
    .split('\n')
    .filter((line) => !line.startsWith('--- ') && !line.startsWith('+++ ') && line !== '')
    .map((line) => {
      const hunk = HUNK.exec(line);
      if (hunk) {
        [before, after] = [Number(hunk[1]), Number(hunk[2])];
        return markup`<div class="hunk">${line}</div>`;
      }
      const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ';
      const numbers = [sign === '+' ? '' : String(before++), sign === '-' ? '' : String(after++)];
      const look = sign === '+' ? 'add' : sign === '-' ? 'del' : 'same';
      return markup`<div class="l ${look}"><span>${numbers[0]}</span><span>${numbers[1]}</span><span>${sign}</span><code>${lines(line.slice(1))}</code></div>`;
    });
  const size = newFile
    ? `new file, ${countOf(added, 'line')}`
    : `${countOf(added, 'line')} added, ${removed} removed`;
  return markup`<div class="diff"><div class="dh"><b>${path}</b> <span>${size}</span></div>${rows}</div>`;
};

const cells = ({ path, keyName, changes, newRows, untouchedRows }: BlockOf<'cells'>): Markup => {
  const rows = changes.map(
    ({ row, key, column, before, after }) =>
      markup`<tr><td class="num" data-l="row">${row}</td><td data-l="${'key'}">${key ?? ''}</td><td data-l="column">${column}</td><td data-l="now">${before === undefined ? markup`<span class="dim">new</span>` : markup`<del>${before}</del>`}</td><td data-l="after"><ins>${after}</ins></td></tr>`,
  );
  const more = newRows === 0 ? '' : `, ${countOf(newRows, 'new row')}`;
  return markup`<h4>${path}</h4>
<table class="grid"><thead><tr><th class="num">row</th><th>${keyName ?? 'key'}</th><th>column</th><th>now</th><th>after</th></tr></thead><tbody>${rows}</tbody></table>
<p class="cap">${countOf(untouchedRows, 'other row')} ${untouchedRows === 1 ? 'stays' : 'stay'} byte for byte the same${more}.</p>`;
};

const mail = (paper: Paper, one: BlockOf<'mail'>): Markup => {
  const familiar = [one.from, ...one.to];
  const alike = one.replyTo === undefined ? undefined : lookAlike(one.replyTo, familiar);
  return markup`${fields([
    ['From', one.from],
    ['To', one.to.join(', ')],
    ['Cc', one.cc.join(', ')],
    ['Bcc', one.bcc.join(', ')],
    [
      'Reply-To',
      one.replyTo === undefined
        ? undefined
        : markup`${one.replyTo}${alike === undefined ? NOTHING : warning(alike.sentence)}`,
    ],
    ['Subject', one.subject],
    ['Attached', one.attachments.map(({ name, bytes }) => `${name}, ${formatBytes(bytes)}`).join('; ')],
  ])}<div class="letter">${paper.text(one.body)}</div>`;
};

const ENTRY: readonly (readonly [string, keyof CalendarEntryView])[] = [
  ['Title', 'title'],
  ['When', 'when'],
  ['UTC', 'utc'],
  ['Where', 'where'],
  ['Repeats', 'repeats'],
];

const calendar = ({ before, after, conflicts }: BlockOf<'calendar'>): Markup => {
  const rows = ENTRY.filter(([, name]) => before?.[name] !== undefined || after?.[name] !== undefined).map(
    ([label, name]) => {
      const [now, then] = [before?.[name], after?.[name]];
      const same = before && after && now === then;
      return markup`<tr><th scope="row">${label}</th>${before ? markup`<td data-l="now">${after && !same ? markup`<del>${now ?? 'none'}</del>` : markup`${now ?? 'none'}`}</td>` : NOTHING}${after ? markup`<td data-l="after">${same ? markup`<span class="dim">the same</span>` : markup`<ins>${then ?? 'none'}</ins>`}</td>` : NOTHING}</tr>`;
    },
  );
  const heads = [before && 'now', after && 'after'].filter((head) => head !== undefined);
  return markup`<table class="grid"><thead><tr><th></th>${heads.map((head) => markup`<th>${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>${conflicts.map(warning)}`;
};
