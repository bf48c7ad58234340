/**
 * A draft as the bytes of one .eml file. The same draft, stamp and attachments give the same bytes: date,
 * Message-ID and boundaries come from the stamp, nothing is looked up, fetched or chosen here.
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import { createHash } from 'node:crypto';
import { domainOf, type Mailbox } from './address.ts';

export type Draft = {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly replyTo: Mailbox | undefined;
  readonly subject: string;
  /** Lines end in "\n". */
  readonly body: string;
  readonly attachments: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
};

/** Everything about a draft that is not in the arguments of its call. */
export type Stamp = {
  /** The call's idempotency key. */
  readonly key: string;
  /** ISO 8601 UTC to the second. */
  readonly date: string;
};

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** Hex digits of the key's digest in a file name: 64 bits, enough to be alone in a folder. */
const NAME_DIGITS = 16;
const ID_DIGITS = 32;

/** "draft-2026-11-27-8f3a9c2b1d04e5f6.eml" */
export const draftName = ({ key, date }: Stamp): string =>
  `draft-${date.slice(0, 10)}-${sha256(`name\n${key}`).slice(0, NAME_DIGITS)}.eml`;

export const draftMessageId = ({ key }: Stamp, from: Mailbox): string =>
  `<${sha256(`message-id\n${key}`).slice(0, ID_DIGITS)}@${domainOf(from.address)}>`;

/** Programs would unfold a message inside a message; as plain bytes it is only a file. */
const attachmentType = (name: string): { contentType: string } | undefined =>
  /\.(?:eml|mht|mhtml)$/i.test(name) ? { contentType: 'application/octet-stream' } : undefined;

/** Copies, because the composer writes into what it is given. */
const boxes = (list: readonly Mailbox[]): Mailbox[] => list.map(({ name, address }) => ({ name, address }));

export const composeDraft = async (draft: Draft, stamp: Stamp): Promise<Uint8Array> => {
  const { from, to, cc, bcc, replyTo, inReplyTo, references } = draft;
  const node = new MailComposer({
    from: { ...from },
    to: boxes(to),
    ...(cc.length > 0 && { cc: boxes(cc) }),
    ...(bcc.length > 0 && { bcc: boxes(bcc) }),
    ...(replyTo && { replyTo: { ...replyTo } }),
    ...(inReplyTo !== undefined && { inReplyTo }),
    ...(references.length > 0 && { references: [...references] }),
    subject: draft.subject,
    text: draft.body,
    attachments: draft.attachments.map(({ name, bytes }) => ({
      filename: name,
      content: Buffer.from(bytes),
      ...attachmentType(name),
    })),
    date: new Date(stamp.date),
    messageId: draftMessageId(stamp, from),
    // Outlook opens a file with this header as a draft that can be sent.
    headers: { 'X-Unsent': '1' },
    baseBoundary: sha256(`boundary\n${stamp.key}`).slice(0, ID_DIGITS),
    encoding: 'quoted-printable',
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  // A draft is for its writer: the hidden recipients must still be there when it is sent.
  node.keepBcc = true;
  return node.build();
};
