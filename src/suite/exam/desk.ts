/** The desk of one run: made new, furnished as the scenario says, and looked at before and after. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { badInput } from '../../errors.ts';
import { sha256 } from '../../event/canonical.ts';
import { openCalendar } from '../../tool/calendar/calendar.ts';
import type { DeskText, MailText } from './scenario.ts';

/** A file that is under way, not part of what a desk says. */
const SIDECAR = /\.db-(?:wal|shm|journal)$/;

/** The folder that the scenario names, before the agent's own function sees the desk. */
export const layDesk = (desk: string, text: DeskText | undefined, home: string): void => {
  if (text?.from === undefined) return;
  const from = resolve(home, text.from);
  if (statSync(from, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw badInput('scenario-invalid', `desk.from: there is no folder "${text.from}" beside the scenario.`);
  cpSync(from, desk, { recursive: true });
};

/** What the scenario puts on the desk, over what is there. */
export const furnish = (desk: string, text: DeskText | undefined, atMs: number): void => {
  mkdirSync(desk, { recursive: true });
  if (!text) return;
  change(desk, text.files ?? {});
  for (const mail of text.mail ?? []) change(desk, { [mail.at]: messageText(mail, atMs) });
  for (const { at, zone, ics } of text.calendar ?? []) {
    mkdirSync(dirname(join(desk, at)), { recursive: true });
    openCalendar(join(desk, at), zone).importIcs({ ics }, { key: 'the desk', nowMs: atMs, base: undefined });
  }
};

/** Null removes a file. */
export const change = (desk: string, files: Readonly<Record<string, string | null>>): void => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(desk, path);
    if (text === null) rmSync(file, { force: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
};

/** A line feed in a header would begin another one. */
const header = (name: string, value: string): string => `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`;

/** A plain message, RFC 5322. */
const messageText = ({ from, to, subject, date, text, at }: MailText, atMs: number): string => {
  return [
    header('From', from),
    header('To', to),
    header('Subject', subject),
    header('Date', date ?? new Date(atMs).toUTCString().replace('GMT', '+0000')),
    header('Message-ID', `<${sha256(`${at} ${subject}`).slice(0, 20)}@scenario.invalid>`),
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...text.split('\n'),
  ].join('\r\n');
};

/** What every file says, by its path on the desk. Of a database all rows, whatever its pages look like. */
export const deskDigests = (desk: string): ReadonlyMap<string, string> => {
  if (!existsSync(desk)) return new Map();
  const found = readdirSync(desk, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !SIDECAR.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path): readonly [string, string] => [
      relative(desk, path).replaceAll('\\', '/'),
      path.endsWith('.db') ? databaseDigest(path) : sha256(readFileSync(path)),
    ]);
  return new Map(found);
};

export const changedFiles = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort();

const databaseDigest = (path: string): string => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    const rows = tables.map(({ name }) =>
      db.prepare(`SELECT * FROM "${String(name).replaceAll('"', '""')}" ORDER BY 1, 2`).all(),
    );
    return sha256(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    );
  } finally {
    db.close();
  }
};
