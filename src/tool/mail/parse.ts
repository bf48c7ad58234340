/**
 * A message as it came, read into values. Nothing in it is run, fetched or written; names of attachments
 * are cleaned, and what could not be read as text is said.
 */
import PostalMime, { type Address, type Attachment, decodeWords, type Email } from 'postal-mime';
import { type HtmlLink, htmlToText } from '../http/html.ts';
import { ToolError } from '../tool.ts';
import { type Mailbox } from './address.ts';
import { type MailDate, readDate } from './date.ts';
import { withoutHidden } from './lookalike.ts';

export type MailAttachment = { readonly name: string; readonly type: string; readonly bytes: number };

export type MailMessage = {
  readonly subject: string;
  readonly from: Mailbox | undefined;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  readonly date: MailDate;
  readonly messageId: string | undefined;
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
  /** The plain text part, or the HTML part as text. */
  readonly text: string;
  /** Links of the HTML part where the text comes from it. */
  readonly links: readonly HtmlLink[];
  readonly attachments: readonly MailAttachment[];
  readonly notes: readonly string[];
};

const NESTING_MAX = 50;
const INNER_MESSAGES_MAX = 3;
const HEADER_BYTES_MAX = 262_144;
const NAME_CHARS_MAX = 120;
const EXTENSION_CHARS_MAX = 16;
const MAILBOXES_MAX = 500;
/** Names that Windows gives to devices, with any ending. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** A name for a file in any folder: the last part of what was sent, without signs that steer a system. */
export const cleanName = (sent: string | null, at: number): string => {
  const last =
    withoutHidden((sent ?? '').toWellFormed())
      .split(/[/\\]/)
      .at(-1) ?? '';
  const plain = last
    .normalize('NFC')
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029:*?"<>|]/g, '_')
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '');
  if (plain === '' || /^_+$/.test(plain)) return `attachment-${at + 1}`;
  const safe = DEVICE_NAME.test(plain) ? `_${plain}` : plain;
  if (safe.length <= NAME_CHARS_MAX) return safe;
  const dot = safe.lastIndexOf('.');
  const ending = dot > 0 && safe.length - dot <= EXTENSION_CHARS_MAX ? safe.slice(dot) : '';
  return safe.slice(0, NAME_CHARS_MAX - ending.length).toWellFormed() + ending;
};

const bytesOf = ({ content }: Attachment): number =>
  typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;

const readAttachments = (attachments: readonly Attachment[]): readonly MailAttachment[] => {
  const taken = new Set<string>();
  return attachments.map((attachment, at) => {
    const clean = cleanName(attachment.filename, at);
    const dot = clean.lastIndexOf('.');
    const [stem, ending] = dot > 0 ? [clean.slice(0, dot), clean.slice(dot)] : [clean, ''];
    let name = clean;
    for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${stem} (${copy})${ending}`;
    taken.add(name.toLowerCase());
    return { name, type: attachment.mimeType, bytes: bytesOf(attachment) };
  });
};

const flat = (addresses: readonly Address[] | undefined): readonly Mailbox[] =>
  (addresses ?? [])
    .flatMap((address): Mailbox[] => address.group ?? [address])
    .map(({ name, address }) => ({ name, address }))
    .slice(0, MAILBOXES_MAX);

const bodyOf = ({
  text = '',
  html = '',
}: Email): { text: string; links: readonly HtmlLink[]; notes: readonly string[] } => {
  if (text.trim() !== '' || html === '') return { text: text.replace(/\s+$/, ''), links: [], notes: [] };
  const page = htmlToText(html);
  return { text: page.text, links: page.links, notes: ['The message has HTML only; this is its text.'] };
};

/** Headers that stand once in a message; a second one is shown by some programs and not by others. */
const SINGLE = ['from', 'to', 'cc', 'reply-to', 'subject', 'date', 'message-id'];

const notesOn = (email: Email, text: string): readonly string[] => {
  const doubled = SINGLE.filter((name) => email.headers.filter(({ key }) => key === name).length > 1);
  const lost = (text + (email.subject ?? '')).split('\u{FFFD}').length - 1;
  return [
    ...doubled.map(
      (name) => `The header "${name}" stands more than once; programs differ in which they show.`,
    ),
    ...(lost > 0 ? [`${lost} characters could not be decoded and are shown as \u{FFFD}.`] : []),
  ];
};

/** Errors: mail-broken. */
export const parseMail = async (bytes: Uint8Array): Promise<MailMessage> => {
  let email: Email;
  try {
    email = await PostalMime.parse(bytes, {
      maxNestingDepth: NESTING_MAX,
      maxRfc822NestingDepth: INNER_MESSAGES_MAX,
      maxHeadersSize: HEADER_BYTES_MAX,
    });
  } catch {
    throw new ToolError(
      'The file could not be read as a mail message: its parts are nested too deep or its headers are too long.',
      { code: 'mail-broken' },
    );
  }
  const header = (key: string): string => email.headers.find((entry) => entry.key === key)?.value ?? '';
  const { text, links, notes } = bodyOf(email);
  return {
    subject: decodeWords(header('subject')),
    from: flat(email.from && [email.from])[0],
    to: flat(email.to),
    cc: flat(email.cc),
    bcc: flat(email.bcc),
    replyTo: flat(email.replyTo),
    date: readDate(header('date')),
    messageId: email.messageId,
    inReplyTo: email.inReplyTo,
    references: (email.references ?? '').split(/\s+/).filter((id) => id !== ''),
    text,
    links,
    attachments: readAttachments(email.attachments),
    notes: [...notes, ...notesOn(email, text)],
  };
};
