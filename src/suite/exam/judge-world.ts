/** What must stand on the desk at the end: files, tables, mail, calendars, databases. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isSame } from '../../event/canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import { openCalendar } from '../../tool/calendar/calendar.ts';
import { isBlank, scanRows } from '../../tool/csv/scan.ts';
import {
  listOf,
  type CalendarExpect,
  type CsvExpect,
  type Expect,
  type FileExpect,
  type MailExpect,
  type QueryExpect,
} from './expect.ts';
import type { Judged, Problem } from './judge.ts';

export const judgeWorld = (expect: Expect, { desk }: Pick<Judged, 'desk'>): readonly Problem[] => [
  ...Object.entries(expect.files ?? {}).flatMap(([path, one]) => judgeFile(desk, path, one)),
  ...Object.entries(expect.csv ?? {}).flatMap(([path, rows]) => judgeTable(desk, path, rows)),
  ...(expect.mail ?? []).flatMap((one) => judgeMail(desk, one)),
  ...(expect.calendar ?? []).flatMap((one) => judgeCalendar(desk, one)),
  ...(expect.databases ?? []).flatMap((one) => judgeQuery(desk, one)),
];

const at = (expectation: string, message: string): readonly Problem[] => [{ expectation, message }];

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const wordProblems = (
  text: string,
  { contains, lacks }: Pick<FileExpect, 'contains' | 'lacks'>,
  where: readonly [expectation: string, name: string],
): readonly Problem[] => [
  ...listOf(contains)
    .filter((words) => !text.includes(words))
    .flatMap((words) => at(where[0], `${where[1]} does not hold "${words}"`)),
  ...listOf(lacks)
    .filter((words) => text.includes(words))
    .flatMap((words) => at(where[0], `${where[1]} holds "${words}"`)),
];

const judgeFile = (desk: string, path: string, expect: FileExpect): readonly Problem[] => {
  const file = join(desk, path);
  if (expect.absent === true) return existsSync(file) ? at('files', `${path} is there`) : [];
  if (!isFile(file)) return at('files', `${path} is not there`);
  const text = readFileSync(file, 'utf8');
  const other = expect.equals !== undefined && expect.equals !== text;
  return [
    ...(other ? at('files', `${path} has another text`) : []),
    ...wordProblems(text, expect, ['files', path]),
  ];
};

const judgeTable = (desk: string, path: string, rows: readonly CsvExpect[]): readonly Problem[] => {
  const file = join(desk, path);
  if (!isFile(file)) return at('csv', `${path} is not there`);
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  const head = text.split('\n', 1)[0] ?? '';
  const delimiter = [';', '\t', ','].find((one) => head.includes(one)) ?? ',';
  const [titles, ...lines] = scanRows(text, { delimiter, crEndsRow: false })
    .filter((row) => !isBlank(row))
    .map(({ fields }) => fields.map(({ value }) => value));
  const table = lines.map((fields) =>
    Object.fromEntries((titles ?? []).map((title, i) => [title, fields[i] ?? ''])),
  );
  return rows.flatMap(({ where, has }) => {
    const name = `${path}, row ${JSON.stringify(where)}`;
    const found = table.filter((row) =>
      Object.entries(where).every(([title, value]) => row[title] === value),
    );
    const [row] = found;
    if (!row || found.length > 1) return at('csv', `${name}: there are ${found.length} such rows`);
    return Object.entries(has)
      .filter(([title, value]) => row[title] !== value)
      .flatMap(([title, value]) =>
        at('csv', `${name}: ${title} is ${row[title] ?? 'no column'}, expected ${value}`),
      );
  });
};

/** Header fields as they stand, unfolded; the body as it stands. */
const judgeMail = (desk: string, expect: MailExpect): readonly Problem[] => {
  const folder = join(desk, expect.in);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')) : [];
  const { to, subject, contains, count = 1 } = expect;
  const found = names.filter((name) => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    const [head = '', ...body] = text.split('\n\n');
    const headers = head.replaceAll(/\n[ \t]+/g, ' ').split('\n');
    const has = (header: string, value: string | undefined): boolean =>
      value === undefined ||
      headers.some((one) => one.toLowerCase().startsWith(`${header}:`) && one.includes(value));
    const words = body.join('\n\n');
    return has('to', to) && has('subject', subject) && listOf(contains).every((one) => words.includes(one));
  });
  if (found.length === count) return [];
  return at(
    'mail',
    `${expect.in} holds ${found.length} such messages, expected ${count} (${names.length} in all)`,
  );
};

const localOf = (moment: Json | undefined): string => {
  const local = isJsonObject(moment) ? moment['local'] : undefined;
  return typeof local === 'string' ? local : '';
};

const judgeCalendar = (
  desk: string,
  { at: path, zone, id, start, absent }: CalendarExpect,
): readonly Problem[] => {
  const file = join(desk, path);
  if (!isFile(file)) return at('calendar', `${path} is not there`);
  const day = start.slice(0, 10);
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 864e5).toISOString().slice(0, 10);
  const found = openCalendar(file, zone).list({ from: day, to: next, zone });
  const entries = Object.values(found).flatMap((value) =>
    Array.isArray(value) ? (value as JsonObject[]) : [],
  );
  const starts = entries.filter((entry) => entry['id'] === id).map(({ start: moment }) => localOf(moment));
  const there = starts.some((local) => local.startsWith(start));
  if (absent === true) return there ? at('calendar', `${id} is at ${start}`) : [];
  return there
    ? []
    : at(
        'calendar',
        `${id} does not begin at ${start}${starts.length > 0 ? ` but at ${starts.join(', ')}` : ''}`,
      );
};

const judgeQuery = (desk: string, { at: path, query, rows }: QueryExpect): readonly Problem[] => {
  const file = join(desk, path);
  if (!isFile(file)) return at('databases', `${path} is not there`);
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const found = db.prepare(query).all() as unknown as Json;
    const plain = JSON.parse(JSON.stringify(found)) as Json;
    if (isSame(plain, rows)) return [];
    return at('databases', `${query} gives ${JSON.stringify(plain)}, expected ${JSON.stringify(rows)}`);
  } catch (error) {
    return at(
      'databases',
      `${query} cannot be asked: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    db.close();
  }
};
