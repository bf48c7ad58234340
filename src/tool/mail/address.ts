/**
 * Mail addresses, strictly: one mailbox a string, ASCII before the "@", a domain that DNS can hold. What is
 * refused here was never written; what is odd but valid becomes a warning in `lookalike.ts`.
 */
import { domainToASCII } from 'node:url';
import type { JsonObject } from '../../event/json.ts';
import { ToolError } from '../tool.ts';

export type Mailbox = { readonly name: string; readonly address: string };

const ADDRESS_CHARS_MAX = 254;
const LOCAL_CHARS_MAX = 64;
const NAME_CHARS_MAX = 200;
const QUOTED_CHARS_MAX = 100;
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Name and address in angle brackets; the name plain or in double quotes. */
const NAMED = /^(?:"((?:[^"\\]|\\.)*)"|([^"<>,;]*?))\s*<([^<>]*)>$/;
/** Anything that some reader of a header takes for the end of a line. */
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

export const refuse = (code: string, message: string, details: JsonObject = {}): ToolError =>
  new ToolError(message, { code, details });

/** A value from outside, short and on one line, for a message. */
export const quote = (text: string): string =>
  JSON.stringify(text.length <= QUOTED_CHARS_MAX ? text : `${text.slice(0, QUOTED_CHARS_MAX)}…`);

/**
 * A header value that is what it seems. Nothing is removed: what was approved is what is written.
 * Errors: header-has-line-break, header-has-control-character, text-not-well-formed.
 */
export const checkHeader = (field: string, value: string): string => {
  if (LINE_BREAK.test(value))
    throw refuse(
      'header-has-line-break',
      `The field "${field}" holds a line break: ${quote(value)}. Give it on one line.`,
      { field },
    );
  if (CONTROL.test(value))
    throw refuse(
      'header-has-control-character',
      `The field "${field}" holds a control character: ${quote(value)}. Leave it out.`,
      { field },
    );
  if (!value.isWellFormed())
    throw refuse('text-not-well-formed', `The field "${field}" holds half a character (a lone surrogate).`, {
      field,
    });
  return value;
};

/** The address with its domain in ASCII and lower case; undefined where it is none. */
export const readAddress = (text: string): string | undefined => {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  const domain = domainToASCII(text.slice(at + 1));
  if (at < 1 || local.length > LOCAL_CHARS_MAX || !LOCAL.test(local)) return undefined;
  const labels = domain.split('.');
  // A number at the end is an IPv4 address in some spelling, never a mail domain.
  if (!labels.every((label) => LABEL.test(label)) || /^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? ''))
    return undefined;
  const address = `${local}@${domain}`;
  return address.length <= ADDRESS_CHARS_MAX ? address : undefined;
};

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** "a@b.example" or "Name <a@b.example>". Errors: those of `checkHeader`; address-invalid. */
export const readMailbox = (field: string, text: string): Mailbox => {
  checkHeader(field, text);
  const [, quoted, plain, bracketed] = NAMED.exec(text.trim()) ?? [];
  const address = readAddress(bracketed ?? text.trim());
  const name = (quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '').trim();
  if (address === undefined || name.length > NAME_CHARS_MAX)
    throw refuse(
      'address-invalid',
      `${quote(text)} in "${field}" is not one mail address. ` +
        'Give "name@host.example" or "Name <name@host.example>", one address a value, a name with commas in double quotes.',
      { field, value: text.slice(0, ADDRESS_CHARS_MAX) },
    );
  return { name, address };
};

export const showMailbox = ({ name, address }: Mailbox): string =>
  name === ''
    ? address
    : `${/^[\p{L}\p{M}\p{N} .'-]*$/u.test(name) ? name : JSON.stringify(name)} <${address}>`;
