/** A manifest as a table with bars: what stands in a request, what does not, and why. */
import { countOf, formatCount, formatShare } from '../view/format.ts';
import type { Manifest, ManifestPart, PartState } from '../view/manifest.ts';
import type { Screen } from './terminal/screen.ts';
import { concat, dim, EMPTY, line, own, repeat, role, theirs, type Shown } from './terminal/shown.ts';
import { table, type Column, type Row } from './terminal/table.ts';

const BAR_CELLS = 12;

const STATES: Readonly<Record<PartState, Shown>> = {
  kept: own('kept'),
  shortened: own('shortened'),
  'left-out': own('left out'),
  summarised: own('summarised'),
};

const LETTERS: Readonly<Record<PartState, Shown>> = {
  kept: own('k'),
  shortened: own('s'),
  'left-out': own('l'),
  summarised: own('z'),
};

const COLUMNS: readonly Column[] = [
  { key: 'seq', title: own('seq'), align: 'right' },
  { key: 'part', title: own('part'), least: 16, enough: 40 },
  { key: 'tokens', title: own('tokens'), align: 'right' },
  { key: 'share', title: own('share'), drop: 2 },
  { key: 'state', title: own('state'), drop: 1 },
  { key: 'letter', title: own(' '), insteadOf: 'state' },
];

const KINDS: Readonly<Record<ManifestPart['kind'], string>> = {
  frame: '',
  instructions: '',
  tool: 'tool ',
  input: 'you: ',
  response: 'model: ',
  reasoning: '',
  result: '',
  file: 'file ',
  note: 'note: ',
  summary: 'summary: ',
  late: '',
  question: '',
};

/** Tool definitions that are alike in everything stand in one row unless all parts are asked for. */
export const manifestLines = (screen: Screen, manifest: Manifest, all: boolean): readonly Shown[] => {
  const parts = all ? manifest.parts : grouped(manifest.parts);
  const most = Math.max(1, ...parts.map((part) => part.tokens));
  const inside = parts.filter(({ state }) => state === 'kept' || state === 'shortened');
  const outside = parts.filter(({ state }) => state === 'left-out' || state === 'summarised');
  const newAt = inside.findIndex((part) => !part.same);
  const rows = inside.flatMap((part, i): readonly Row[] => [
    ...(i === newAt && i > 0 ? [dim(line`──── the same bytes as the request before up to here ────`)] : []),
    ...partRows(part, most),
  ]);
  const left: readonly Row[] =
    outside.length === 0
      ? []
      : [
          dim(
            line`──── not in it: ${countOf(outside.length, all ? 'part' : 'entry', all ? 'parts' : 'entries')} ────`,
          ),
          ...outside.flatMap((part) => partRows(part, most)),
        ];
  const { lines, dropped } = table(COLUMNS, [...rows, ...left], { look: screen.look });
  const legend = dropped.includes('state') ? [dim(line`k kept, s shortened, l left out, z summarised`)] : [];
  return [...lines, ...legend];
};

const partRows = (part: ManifestPart, most: number): readonly Row[] => {
  const { seq, kind, label, tokens, state, reason } = part;
  const cells = Math.max(tokens > 0 ? 1 : 0, Math.round((BAR_CELLS * tokens) / most));
  const bar = state === 'left-out' || state === 'summarised' ? '░' : part.same ? '▒' : '█';
  const count = state === 'kept' || state === 'shortened' ? formatCount(tokens) : `(${formatCount(tokens)})`;
  const row: Row = {
    seq: seq === undefined ? dim(own('·')) : dim(theirs(seq)),
    part: theirs(`${KINDS[kind]}${label}`),
    tokens: theirs(count),
    share: repeat(bar, cells),
    state: shade(state, STATES[state]),
    letter: shade(state, LETTERS[state]),
  };
  return reason === '' ? [row] : [row, dim(concat(own('      '), reason))];
};

const shade = (state: PartState, shown: Shown): Shown =>
  state === 'kept' ? dim(shown) : role('wait', shown);

/** Parts of one turn that are left out for one reason, and all tool definitions, as one row each. */
const grouped = (parts: readonly ManifestPart[]): readonly ManifestPart[] => {
  const rows: ManifestPart[] = [];
  const groups = new Map<string, { at: number; count: number }>();
  for (const part of parts) {
    const name = groupOf(part);
    const group = name === undefined ? undefined : groups.get(name);
    const last = group && rows[group.at];
    if (!group || !last) {
      if (name !== undefined) groups.set(name, { at: rows.length, count: 1 });
      rows.push(part);
      continue;
    }
    group.count++;
    rows[group.at] = {
      ...last,
      kind: 'frame',
      label:
        part.kind === 'tool'
          ? countOf(group.count, 'tool definition')
          : `turn ${part.turn}, ${countOf(group.count, 'part')}`,
      bytes: last.bytes + part.bytes,
      tokens: last.tokens + part.tokens,
    };
  }
  return rows;
};

const groupOf = ({ kind, state, reason, turn }: ManifestPart): string | undefined => {
  if (kind === 'tool') return 'tools';
  if (kind === 'file' || kind === 'late' || kind === 'reasoning') return undefined;
  return state === 'left-out' || state === 'summarised' ? `${turn} ${state} ${reason}` : undefined;
};

/** `18,412 tokens sent, 91.8 % the same bytes as request 6` */
export const sharedWords = (sharedBytes: number | undefined, bytes: number, before: string): Shown =>
  sharedBytes === undefined
    ? own('nothing to share yet')
    : line`${formatShare(sharedBytes / bytes, 1)} the same bytes as ${before}`;

export const countLines = ({ counts }: Manifest): readonly Shown[] => [
  EMPTY,
  line`Kept ${counts.kept}, shortened ${counts.shortened}, left out ${counts['left-out']}, summarised ${counts.summarised}. Single counts are estimates.`,
];
