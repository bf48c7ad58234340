/**
 * mail.list, mail.read and mail.search over a folder of .eml files. Reading has no effect: no mark is
 * set, no link is opened, no attachment is written anywhere.
 */
import { z } from 'zod';
import type { HtmlLink } from '../http/html.ts';
import { tool, type Tool, type ToolContext } from '../tool.ts';
import { domainOf, type Mailbox, quote, refuse, showMailbox } from './address.ts';
import type { MailDate } from './date.ts';
import { isPlainName, type MailFolder } from './folder.ts';
import { hiddenWarnings, mailboxWarnings } from './lookalike.ts';
import { type MailAttachment, type MailMessage, parseMail } from './parse.ts';

export type ReaderSettings = {
  readonly prefix: string;
  readonly inbox: MailFolder;
  readonly known: readonly string[];
};

export type MailLine = {
  /** Name of the file, for mail.read. */
  readonly path: string;
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly date: MailDate;
  /** Words around the first hit of a search in the text. */
  readonly around?: string;
};

export type MailPage = {
  /** Newest first; those without a date last. */
  readonly messages: readonly MailLine[];
  /** Messages that fit, shown or not. */
  readonly total: number;
  readonly note?: string;
};

export type MailRead = {
  readonly path: string;
  readonly subject: string;
  readonly from?: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc?: readonly Mailbox[];
  readonly bcc?: readonly Mailbox[];
  readonly replyTo?: readonly Mailbox[];
  readonly date: MailDate;
  readonly messageId?: string;
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly text: string;
  readonly links?: readonly HtmlLink[];
  readonly attachments: readonly MailAttachment[];
  readonly notes?: readonly string[];
  /** What a person should notice: look-alike domains, answers that go elsewhere. */
  readonly warnings?: readonly string[];
};

/** Files looked at in one call; a larger inbox says how many were left out. */
const INBOX_FILES_MAX = 5000;
const MAIL_BYTES_MAX: number = 25 * 1024 * 1024;
/** Bytes read of a message for a list: its headers. */
const HEAD_BYTES = 65_536;
/** Bytes read of a message for a search; large attachments are not searched. */
const SEARCH_BYTES = 1_048_576;
const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;
const TEXT_CHARS_MAX = 200_000;
const AROUND_CHARS = 80;
const WORDS_MAX = 10;

const paging = {
  limit: z.int().min(1).max(PAGE_MAX).optional().describe(`Messages to return, ${PAGE_DEFAULT} unless told.`),
  skip: z.int().min(0).optional().describe('Messages to leave out from the start.'),
};
const listInput = z.strictObject(paging);
const readInput = z.strictObject({
  path: z.string().describe('Name of the .eml file, as mail.list gives it.'),
});
const searchInput = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(500)
    .describe('Words; a message must have all of them in subject, addresses or text.'),
  ...paging,
});
type Paging = z.output<typeof listInput>;

type Visit = { readonly line: MailLine; readonly instant: number };

const lineOf = (path: string, { subject, from, to, date }: MailMessage): MailLine => ({
  path,
  subject,
  from: from ? showMailbox(from) : '',
  to: to.map(showMailbox),
  date,
});

/** Reads every message of the inbox up to `bytesMax` and keeps what `pick` gives a line for. */
const visit = async (
  settings: ReaderSettings,
  context: ToolContext,
  bytesMax: number,
  pick: (path: string, message: MailMessage) => MailLine | undefined,
): Promise<{ visits: Visit[]; notes: string[] }> => {
  const names = (await settings.inbox.list())
    .filter((name) => /\.eml$/i.test(name) && isPlainName(name))
    .toSorted();
  const notes: string[] = [];
  if (names.length > INBOX_FILES_MAX)
    notes.push(`${names.length - INBOX_FILES_MAX} of ${names.length} files were not looked at.`);
  const visits: Visit[] = [];
  let broken = 0;
  for (const path of names.slice(0, INBOX_FILES_MAX)) {
    context.signal.throwIfAborted();
    const file = await settings.inbox.read(path, bytesMax);
    if (!file) continue;
    try {
      const line = pick(path, await parseMail(file.bytes));
      if (line)
        visits.push({ line, instant: line.date.utc === undefined ? -Infinity : Date.parse(line.date.utc) });
    } catch {
      broken++;
    }
  }
  if (broken > 0) notes.push(`${broken} files could not be read as mail.`);
  return { visits, notes };
};

const pageOf = (
  { visits, notes }: { visits: Visit[]; notes: string[] },
  { limit, skip = 0 }: Paging,
): MailPage => {
  const sorted = visits.toSorted((a, b) =>
    a.instant === b.instant ? (a.line.path < b.line.path ? -1 : 1) : b.instant - a.instant,
  );
  return {
    messages: sorted.slice(skip, skip + (limit ?? PAGE_DEFAULT)).map(({ line }) => line),
    total: sorted.length,
    ...(notes.length > 0 && { note: notes.join(' ') }),
  };
};

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** A line for a message that holds every word, with the surroundings of the first one in its text. */
const match = (words: readonly string[], path: string, message: MailMessage): MailLine | undefined => {
  const { from, to, cc } = message;
  const boxes = [...(from ? [from] : []), ...to, ...cc].map(showMailbox).join(' ');
  const head = fold(`${message.subject}\n${boxes}`);
  const text = fold(message.text);
  if (!words.every((word) => head.includes(word) || text.includes(word))) return undefined;
  const at = Math.max(-1, ...words.map((word) => text.indexOf(word)));
  const around =
    at < 0 ? undefined : text.slice(Math.max(0, at - AROUND_CHARS), at + AROUND_CHARS).toWellFormed();
  return { ...lineOf(path, message), ...(around !== undefined && { around }) };
};

const warningsOn = (message: MailMessage, known: readonly string[]): readonly string[] => {
  const { from, replyTo } = message;
  const boxes = [...(from ? [from] : []), ...replyTo];
  const warnings = boxes.flatMap((box) => mailboxWarnings(box, known));
  for (const { address } of replyTo)
    if (from && domainOf(address) !== domainOf(from.address))
      warnings.push(
        `Answers go to ${quote(address)}, which is not the domain of the sender ${quote(from.address)}.`,
      );
  warnings.push(...hiddenWarnings('subject', message.subject), ...hiddenWarnings('text', message.text));
  return [...new Set(warnings)];
};

const some = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
  list.length === 0 ? undefined : list;

/** Leaves out what is undefined, so that a result has no empty fields. */
const present = <Value extends object>(value: { [Key in keyof Value]: Value[Key] | undefined }): Value =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Value;

/** Errors: mail-not-found, mail-too-large, mail-broken. */
const read = async (path: string, { inbox, known }: ReaderSettings): Promise<MailRead> => {
  const file = /\.eml$/i.test(path) ? await inbox.read(path, MAIL_BYTES_MAX) : undefined;
  if (!file)
    throw refuse(
      'mail-not-found',
      `There is no message ${quote(path)} in the inbox. Use a name that the list gives.`,
      {
        path: path.slice(0, 200),
      },
    );
  if (file.size > MAIL_BYTES_MAX)
    throw refuse(
      'mail-too-large',
      `The message ${quote(path)} has ${file.size} bytes; the limit is ${MAIL_BYTES_MAX}.`,
      {
        limit: MAIL_BYTES_MAX,
        bytes: file.size,
      },
    );
  const message = await parseMail(file.bytes);
  const { text } = message;
  const cut = text.length - TEXT_CHARS_MAX;
  const notes =
    cut > 0 ? [...message.notes, `${cut} characters at the end of the text were left out.`] : message.notes;
  return present<MailRead>({
    path,
    subject: message.subject,
    from: message.from,
    to: message.to,
    cc: some(message.cc),
    bcc: some(message.bcc),
    replyTo: some(message.replyTo),
    date: message.date,
    messageId: message.messageId,
    inReplyTo: message.inReplyTo,
    references: some(message.references),
    text: cut > 0 ? text.slice(0, TEXT_CHARS_MAX).toWellFormed() : text,
    links: some(message.links),
    attachments: message.attachments,
    notes: some(notes),
    warnings: some(warningsOn(message, known)),
  });
};

export const readerTools = (settings: ReaderSettings): readonly Tool[] => {
  const labels = { untrusted: true, private: true };
  const { prefix } = settings;
  return [
    tool<Paging>({
      name: `${prefix}.list`,
      description: 'Lists the messages of the inbox, newest first.',
      inputSchema: listInput,
      effect: 'none',
      labels,
      execute: async (given, context) => pageOf(await visit(settings, context, HEAD_BYTES, lineOf), given),
    }),
    tool<z.output<typeof readInput>>({
      name: `${prefix}.read`,
      description: 'Reads one message of the inbox: headers, text and the names of its attachments.',
      inputSchema: readInput,
      effect: 'none',
      labels,
      execute: ({ path }) => read(path, settings),
    }),
    tool<z.output<typeof searchInput>>({
      name: `${prefix}.search`,
      description: 'Finds the messages of the inbox that hold all given words.',
      inputSchema: searchInput,
      effect: 'none',
      labels,
      execute: async ({ query, ...given }, context) => {
        const words = fold(query).split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
        const pick = (path: string, message: MailMessage): MailLine | undefined =>
          match(words, path, message);
        return pageOf(await visit(settings, context, SEARCH_BYTES, pick), given);
      },
    }),
  ];
};
