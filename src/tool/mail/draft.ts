/**
 * mail.draft: saves one .eml file into the drafts folder and never sends. Invariants:
 * 1. What cannot be written as approved is refused before anyone is asked.
 * 2. The file's name and bytes are a function of the call's key, its arguments, its attachments and the
 *    base of its preview; a second execution writes nothing new.
 * 3. No file is ever replaced.
 */
import { z } from 'zod';
import { isJsonObject, type Json } from '../../event/json.ts';
import type { Preview } from '../preview.ts';
import { type Reconciled, tool, type Tool, type ToolContext, ToolError } from '../tool.ts';
import { checkHeader, domainOf, type Mailbox, quote, readMailbox, refuse, showMailbox } from './address.ts';
import { composeDraft, type Draft, draftMessageId, draftName, sha256, type Stamp } from './compose.ts';
import { isPlainName, type MailFolder } from './folder.ts';
import { hiddenWarnings, mailboxWarnings } from './lookalike.ts';

export type DraftSettings = {
  readonly name: string;
  readonly drafts: MailFolder;
  readonly attachments: MailFolder;
  readonly from: Mailbox;
  /** Domains of known correspondents and of the sender, in ASCII. */
  readonly known: readonly string[];
};

export type DraftResult = {
  /** Name of the file in the drafts folder. */
  readonly path: string;
  readonly sha256: string;
  readonly messageId: string;
  readonly sent: false;
};

const RECIPIENTS_MAX = 100;
const SUBJECT_CHARS_MAX = 500;
const BODY_CHARS_MAX = 1_000_000;
const ATTACHMENTS_MAX = 20;
const ATTACHMENT_BYTES_MAX: number = 20 * 1024 * 1024;
const REFERENCES_MAX = 100;
const MANY_RECIPIENTS = 20;
const MESSAGE_ID = /^<[^\s<>@]{1,200}@[^\s<>@]{1,200}>$/;
/** Files that run when they are opened. */
const RUNS =
  /\.(?:exe|scr|com|bat|cmd|ps1|vbs|js|jse|wsf|hta|msi|jar|lnk|iso|img|app|dmg|sh|docm|xlsm|pptm)$/i;

const oneOrMore = z.union([z.string(), z.array(z.string()).max(RECIPIENTS_MAX)]);
const input = z.strictObject({
  to: oneOrMore.describe('"name@host.example" or "Name <name@host.example>", one address a value.'),
  cc: oneOrMore.optional(),
  bcc: oneOrMore.optional(),
  replyTo: z.string().optional(),
  subject: z.string(),
  body: z.string().describe('Plain text.'),
  attachments: z.array(z.string()).max(ATTACHMENTS_MAX).optional().describe('Names of files in the folder.'),
  inReplyTo: z.string().optional().describe('Message-ID of the message that is answered.'),
  references: z.array(z.string()).max(REFERENCES_MAX).optional(),
});
type Input = z.output<typeof input>;

const readList = (field: string, value: string | readonly string[] | undefined): readonly Mailbox[] =>
  (typeof value === 'string' ? [value] : (value ?? [])).map((text) => readMailbox(field, text));

const readId = (field: string, value: string): string => {
  if (!MESSAGE_ID.test(checkHeader(field, value)))
    throw refuse(
      'message-id-invalid',
      `${quote(value)} in "${field}" is not a Message-ID such as "<a1@host.example>".`,
      {
        field,
      },
    );
  return value;
};

/** A body's line breaks are content. Errors: text-not-well-formed, body-too-long. */
const readBody = (text: string): string => {
  if (text.length > BODY_CHARS_MAX)
    throw refuse('body-too-long', `The body has ${text.length} characters; the limit is ${BODY_CHARS_MAX}.`, {
      limit: BODY_CHARS_MAX,
    });
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!text.isWellFormed() || /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/.test(text))
    throw refuse(
      'text-not-well-formed',
      'The body holds control characters or half a character. Leave them out.',
      {
        field: 'body',
      },
    );
  return text.replaceAll(/\r\n?|\f/g, '\n');
};

const readSubject = (subject: string): string => {
  if (checkHeader('subject', subject).length > SUBJECT_CHARS_MAX)
    throw refuse(
      'subject-too-long',
      `The subject has ${subject.length} characters; the limit is ${SUBJECT_CHARS_MAX}.`,
      {
        limit: SUBJECT_CHARS_MAX,
      },
    );
  return subject;
};

/** Errors: attachment-name-invalid, attachment-not-found, attachments-too-large. */
const readAttachments = async (
  names: readonly string[],
  folder: MailFolder,
): Promise<Draft['attachments']> => {
  const attachments: { name: string; bytes: Uint8Array }[] = [];
  let left = ATTACHMENT_BYTES_MAX;
  for (const name of names) {
    if (!isPlainName(checkHeader('attachments', name)))
      throw refuse(
        'attachment-name-invalid',
        `${quote(name)} is not the name of a file in the folder. Give the name alone, without a path.`,
        { field: 'attachments' },
      );
    const file = await folder.read(name, left);
    if (!file)
      throw refuse('attachment-not-found', `There is no file ${quote(name)} in the folder.`, { name });
    left -= file.size;
    if (left < 0)
      throw refuse(
        'attachments-too-large',
        `The attachments have more than ${ATTACHMENT_BYTES_MAX} bytes together.`,
        {
          limit: ATTACHMENT_BYTES_MAX,
        },
      );
    attachments.push({ name, bytes: file.bytes });
  }
  return attachments;
};

const readDraft = async (given: Input, { from, attachments }: DraftSettings): Promise<Draft> => {
  const draft = {
    from,
    to: readList('to', given.to),
    cc: readList('cc', given.cc),
    bcc: readList('bcc', given.bcc),
    replyTo: given.replyTo === undefined ? undefined : readMailbox('replyTo', given.replyTo),
    subject: readSubject(given.subject),
    body: readBody(given.body),
    inReplyTo: given.inReplyTo === undefined ? undefined : readId('inReplyTo', given.inReplyTo),
    references: (given.references ?? []).map((id) => readId('references', id)),
  };
  const count = draft.to.length + draft.cc.length + draft.bcc.length;
  if (draft.to.length === 0)
    throw refuse('recipient-missing', 'The draft has no recipient in "to".', { field: 'to' });
  if (count > RECIPIENTS_MAX)
    throw refuse(
      'too-many-recipients',
      `The draft has ${count} recipients; the limit is ${RECIPIENTS_MAX}.`,
      {
        limit: RECIPIENTS_MAX,
      },
    );
  return { ...draft, attachments: await readAttachments(given.attachments ?? [], attachments) };
};

const warningsFor = (draft: Draft, known: readonly string[]): readonly string[] => {
  const { from, to, cc, bcc, replyTo, subject, body, attachments } = draft;
  const recipients = [...to, ...cc, ...bcc];
  const boxes = replyTo ? [...recipients, replyTo] : recipients;
  const warnings = boxes.flatMap((box) => mailboxWarnings(box, known));
  if (replyTo && domainOf(replyTo.address) !== domainOf(from.address))
    warnings.push(`Answers go to ${replyTo.address}, which is not the domain of the sender ${from.address}.`);
  if (recipients.length > MANY_RECIPIENTS) warnings.push(`The draft has ${recipients.length} recipients.`);
  warnings.push(...hiddenWarnings('subject', subject), ...hiddenWarnings('body', body));
  for (const { name } of boxes) warnings.push(...hiddenWarnings('name of a recipient', name));
  for (const { name } of attachments) {
    if (RUNS.test(name)) warnings.push(`The attachment ${quote(name)} is a program or can hold one.`);
    warnings.push(...hiddenWarnings('name of an attachment', name));
  }
  return [...new Set(warnings)];
};

type Base = { readonly path: string; readonly sha256: string; readonly date: string };

const readBase = (base: Json | undefined): Base | undefined => {
  if (!isJsonObject(base)) return undefined;
  const { path, sha256: digest, date } = base;
  if (typeof path !== 'string' || typeof digest !== 'string' || typeof date !== 'string') return undefined;
  return isPlainName(path) && !Number.isNaN(Date.parse(date)) ? { path, sha256: digest, date } : undefined;
};

const preview = async (given: Input, context: ToolContext, settings: DraftSettings): Promise<Preview> => {
  const draft = await readDraft(given, settings);
  // Looked at again after a yes it is the same draft, with the moment at which it was first shown.
  const date = readBase(context.base)?.date ?? `${new Date(context.now()).toISOString().slice(0, 19)}Z`;
  const stamp: Stamp = { key: context.idempotencyKey, date };
  const bytes = await composeDraft(draft, stamp);
  const base: Base = { path: draftName(stamp), sha256: sha256(bytes), date };
  const { replyTo } = draft;
  return {
    title: 'Save a mail draft. Nothing is sent.',
    target: base.path,
    blocks: [
      {
        kind: 'mail',
        from: showMailbox(draft.from),
        to: draft.to.map(showMailbox),
        cc: draft.cc.map(showMailbox),
        bcc: draft.bcc.map(showMailbox),
        ...(replyTo && { replyTo: showMailbox(replyTo) }),
        subject: draft.subject,
        body: draft.body,
        attachments: draft.attachments.map((file) => ({ name: file.name, bytes: file.bytes.length })),
      },
    ],
    warnings: warningsFor(draft, settings.known),
    base,
  };
};

const resultOf = (base: Base, context: ToolContext, from: Mailbox): DraftResult => ({
  path: base.path,
  sha256: base.sha256,
  messageId: draftMessageId({ key: context.idempotencyKey, date: base.date }, from),
  sent: false,
});

const execute = async (given: Input, context: ToolContext, settings: DraftSettings): Promise<DraftResult> => {
  const base = readBase(context.base);
  if (!base) throw refuse('base-missing', 'The call has no preview to act on. Propose it again.');
  const stamp: Stamp = { key: context.idempotencyKey, date: base.date };
  const bytes = await composeDraft(await readDraft(given, settings), stamp);
  if (sha256(bytes) !== base.sha256 || draftName(stamp) !== base.path)
    throw refuse(
      'draft-changed',
      'The draft is not the one that was previewed: an attachment has changed since. Propose it again.',
      {
        path: base.path,
      },
    );
  context.signal.throwIfAborted();
  if (await settings.drafts.write(base.path, bytes)) return resultOf(base, context, settings.from);
  if ((await digestOf(base, settings.drafts)) === base.sha256) return resultOf(base, context, settings.from);
  throw new ToolError(
    `Another file has the name ${quote(base.path)}. It was left as it is. Propose the draft again.`,
    {
      code: 'draft-exists',
      details: { path: base.path },
    },
  );
};

/** The largest file that can be one of these drafts: base64 grows by a third, quoted-printable threefold. */
const DRAFT_BYTES_MAX: number = 2 * ATTACHMENT_BYTES_MAX + 12 * BODY_CHARS_MAX;

const digestOf = async ({ path }: Base, drafts: MailFolder): Promise<string | undefined> => {
  const file = await drafts.read(path, DRAFT_BYTES_MAX);
  return file && sha256(file.bytes);
};

/** Asks the folder, not the arguments: what is there is what happened. */
const reconcile = async (context: ToolContext, { drafts, from }: DraftSettings): Promise<Reconciled> => {
  const base = readBase(context.base);
  if (!base) return { happened: 'unknown', note: 'The call has no base, so its file cannot be found.' };
  const digest = await digestOf(base, drafts);
  if (digest === base.sha256) return { happened: true, result: resultOf(base, context, from) };
  if (digest !== undefined || (await drafts.list()).includes(base.path))
    return {
      happened: 'unknown',
      note: `The file ${quote(base.path)} exists and is not the draft of this call.`,
    };
  return { happened: false };
};

export const draftTool = (settings: DraftSettings): Tool =>
  tool<Input>({
    name: settings.name,
    description:
      `Saves a mail draft from ${settings.from.address} as a file for a person to look at and send. Never sends. ` +
      'Plain text; attachments by their name in the folder.',
    inputSchema: input,
    effect: 'reconcilable',
    egress: false,
    preview: (given, context) => preview(given, context, settings),
    reconcile: (_given, context) => reconcile(context, settings),
    execute: (given, context) => execute(given, context, settings),
  });
