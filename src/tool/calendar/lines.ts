/**
 * The lines of an .ics file: unfolded, with the number each began at, and nested by BEGIN and END. Every
 * complaint names its line. RFC 5545 section 3.1.
 */
import { type CalendarCode, refuse } from './fault.ts';
import { type Jcal, type JcalProperty, parseLine } from './jcal.ts';
import type { ToolError } from '../tool.ts';

/** Bytes of one .ics file, in and out. */
export const ICS_BYTES_MAX: number = 1024 * 1024;
const DEPTH_MAX = 8;
const QUOTED_CHARS_MAX = 60;

type Line = { readonly text: string; readonly line: number };

/** The components of a file, and the line each property and component came from. */
export type IcsTree = {
  readonly calendars: readonly Jcal[];
  readonly lineOf: (part: Jcal | JcalProperty) => number;
};

export const atLine = (line: number, message: string, code: CalendarCode = 'ics-invalid'): ToolError =>
  refuse(code, `Line ${line} of the .ics file: ${message}. Nothing was imported.`);

const quoted = (text: string): string =>
  `"${text.slice(0, QUOTED_CHARS_MAX)}${text.length > QUOTED_CHARS_MAX ? '…' : ''}"`;

const unfold = (ics: string): Line[] => {
  const lines: { text: string; line: number }[] = [];
  for (const [index, text] of ics
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const last = lines.at(-1);
    if (/^[ \t]/.test(text) && last) last.text += text.slice(1);
    else if (text !== '') lines.push({ text, line: index + 1 });
  }
  return lines;
};

/** Reads a file into components. Throws `ics-too-large` and `ics-invalid`, the latter with the line. */
export const readIcsTree = (ics: string): IcsTree => {
  const bytes = Buffer.byteLength(ics);
  if (bytes > ICS_BYTES_MAX)
    throw refuse(
      'ics-too-large',
      `The .ics file has ${bytes} bytes; at most ${ICS_BYTES_MAX} are read. Split it.`,
    );
  const lineOf = new Map<Jcal | JcalProperty, number>();
  const calendars: Jcal[] = [];
  const open: Jcal[] = [];
  let last = 1;
  for (const { text, line } of unfold(ics)) {
    last = line;
    const [, edge, name = ''] = /^(BEGIN|END):(.*)$/i.exec(text) ?? [];
    if (edge?.toUpperCase() === 'BEGIN')
      openComponent(name.trim().toLowerCase(), { open, calendars, lineOf, line });
    else if (edge) {
      const closed = open.pop();
      if (closed?.[0] !== name.trim().toLowerCase())
        throw atLine(line, `${quoted(text)} closes ${closed ? `"${closed[0].toUpperCase()}"` : 'nothing'}`);
    } else {
      const parent = open.at(-1);
      if (!parent) throw atLine(line, `${quoted(text)} is outside of a VCALENDAR`);
      const property = readLine(text, line);
      lineOf.set(property, line);
      parent[1].push(property);
    }
  }
  const unclosed = open.at(-1);
  if (unclosed)
    throw atLine(
      last,
      `the file ends inside "${unclosed[0].toUpperCase()}", which began at line ${lineOf.get(unclosed) ?? 1}`,
    );
  if (calendars.length === 0) throw atLine(1, 'no "BEGIN:VCALENDAR" was found');
  return { calendars, lineOf: (part) => lineOf.get(part) ?? 1 };
};

type Place = { open: Jcal[]; calendars: Jcal[]; lineOf: Map<Jcal | JcalProperty, number>; line: number };

const openComponent = (name: string, { open, calendars, lineOf, line }: Place): void => {
  const component: Jcal = [name, [], []];
  const parent = open.at(-1);
  if (!parent && name !== 'vcalendar')
    throw atLine(line, `"BEGIN:${name.toUpperCase()}" is outside of a VCALENDAR`);
  if (open.length >= DEPTH_MAX) throw atLine(line, `components are nested deeper than ${DEPTH_MAX}`);
  lineOf.set(component, line);
  (parent ? parent[2] : calendars).push(component);
  open.push(component);
};

const readLine = (text: string, line: number): JcalProperty => {
  // oxlint-disable-next-line no-control-regex -- control characters have no place in a content line
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/.test(text))
    throw atLine(line, 'it holds a control character');
  if (!/^[A-Za-z0-9-]+[;:]/.test(text)) throw atLine(line, `${quoted(text)} has no property name with ":"`);
  try {
    return parseLine(text);
  } catch {
    throw atLine(
      line,
      `${quoted(text)} cannot be read`,
      /^RRULE/i.test(text) ? 'rule-invalid' : 'ics-invalid',
    );
  }
};
