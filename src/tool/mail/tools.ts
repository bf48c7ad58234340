/** The mail tools of an agent: read an inbox, save drafts. There is no tool that sends. */
import { badInput } from '../../errors.ts';
import type { Tool } from '../tool.ts';
import { checkHeader, domainOf, type Mailbox, readAddress, readMailbox } from './address.ts';
import { draftTool } from './draft.ts';
import { type MailFolder, mailFolder } from './folder.ts';
import { readerTools } from './reader.ts';

export type MailToolOptions = {
  /** Root of the folder that drafts are saved in. */
  readonly drafts: string | MailFolder;
  /** Root of the folder of .eml files that is read. */
  readonly inbox: string | MailFolder;
  /** Root of the folder that attachments are taken from. Default: the drafts folder. */
  readonly attachments?: string | MailFolder;
  /** The sender of every draft. */
  readonly from: { readonly name?: string; readonly address: string };
  /** Addresses or domains of known correspondents: others that look like them get a warning. */
  readonly contacts?: readonly string[];
  /** Names are `mail.list`, `mail.read`, `mail.search`, `mail.draft` unless told. */
  readonly prefix?: string;
};

const openFolder = (folder: string | MailFolder): MailFolder =>
  typeof folder === 'string' ? mailFolder(folder) : folder;

/** Throws `tool-invalid` for a wrong configuration. */
export const mailTools = (options: MailToolOptions): Tool[] => {
  const { from, prefix = 'mail', contacts = [] } = options;
  const fail = (what: string): never => {
    throw badInput('tool-invalid', `Tools "${prefix}": ${what}.`, { tools: prefix });
  };
  const knownDomain = (contact: string): string => {
    const address = readAddress(contact.includes('@') ? contact : `any@${contact}`);
    return address === undefined
      ? fail(`the contact "${contact}" is not an address or a domain`)
      : domainOf(address);
  };
  const readFrom = (): Mailbox => {
    try {
      return {
        name: checkHeader('from', from.name ?? ''),
        address: readMailbox('from', from.address).address,
      };
    } catch (error) {
      return fail(error instanceof Error ? error.message : 'the sender is invalid');
    }
  };
  const sender = readFrom();
  const known = [...new Set([domainOf(sender.address), ...contacts.map(knownDomain)])];
  const drafts = openFolder(options.drafts);
  const attachments = options.attachments === undefined ? drafts : openFolder(options.attachments);
  return [
    ...readerTools({ prefix, inbox: openFolder(options.inbox), known }),
    draftTool({ name: `${prefix}.draft`, drafts, attachments, from: sender, known }),
  ];
};
