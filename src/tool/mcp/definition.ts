/**
 * One tool as its server describes it: held against limits, one by one, so that a bad one is set aside with its reason
 * and the others stay. All of it is text that strangers wrote; what a person approves is this text, by its digest.
 */
import { canonical, sha256, type Digest } from '../../event/canonical.ts';
import { isJsonObject, type JsonObject } from '../../event/json.ts';
import { canonicalStrict, parseStrict, type StrictValue } from '../../event/strict.ts';
import { schemaProblem } from '../schema.ts';
import { items, sliceAt, type Slice } from './json-slice.ts';

/** UTF-8 bytes of one definition. */
export const DEFINITION_BYTES_MAX: number = 64 * 1024;
/** Brackets within brackets in one definition. */
export const DEFINITION_DEPTH_MAX = 64;
export const DESCRIPTION_CHARS_MAX: number = 8 * 1024;
/** Tools that are read of one server. */
export const SERVER_TOOLS_MAX = 256;
const NAME_CHARS_MAX = 128;
/** Of a name that is too long, in a message. */
const NAME_SHOWN_CHARS = 60;

export type ServerTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** SHA-256 over the server's identity and everything that it says of the tool, in canonical form. */
  readonly pin: Digest;
  /** That canonical form, for people to compare. */
  readonly said: string;
};

/** `tool` is the server's own name for it. */
export type SetAside = { readonly tool: string; readonly code: string; readonly message: string };

export type Listed = { readonly tools: readonly ServerTool[]; readonly setAside: readonly SetAside[] };

/** `replies` are the texts of the answers to tools/list, `identity` the name by which the server goes. */
export const readListing = (identity: string, replies: readonly string[]): Listed => {
  const slices = replies.flatMap((reply) => items(sliceAt(reply, ['result', 'tools'])?.text ?? ''));
  const read = slices.slice(0, SERVER_TOOLS_MAX).map((slice) => readDefinition(identity, slice));
  const count = new Map<string, number>();
  for (const { name } of read) count.set(name, (count.get(name) ?? 0) + 1);
  const tools: ServerTool[] = [];
  const setAside = new Map<string, SetAside>();
  const aside = (tool: string, code: string, message: string): void =>
    void setAside.set(tool, { tool, code, message });
  for (const one of read) {
    if ((count.get(one.name) ?? 0) > 1)
      aside(one.name, 'tool-name-twice', 'its server lists two tools under this name');
    else if ('code' in one) aside(one.name, one.code, one.message);
    else tools.push(one);
  }
  if (slices.length > SERVER_TOOLS_MAX)
    aside(
      '*',
      'too-many-tools',
      `${slices.length - SERVER_TOOLS_MAX} more tools were not read, the limit is ${SERVER_TOOLS_MAX}`,
    );
  return { tools, setAside: [...setAside.values()] };
};

type Bad = { readonly name: string; readonly code: string; readonly message: string };

const readDefinition = (identity: string, { text, depth }: Slice): ServerTool | Bad => {
  const name = nameIn(text);
  const bad = (code: string, message: string): Bad => ({ name, code, message });
  const bytes = Buffer.byteLength(text);
  if (bytes > DEFINITION_BYTES_MAX)
    return bad(
      'tool-definition-too-large',
      `its definition has ${bytes} bytes, the limit is ${DEFINITION_BYTES_MAX}`,
    );
  if (depth > DEFINITION_DEPTH_MAX)
    return bad(
      'schema-too-deep',
      `its definition nests ${depth} levels deep, the limit is ${DEFINITION_DEPTH_MAX}`,
    );
  const read = parseStrict(text, DEFINITION_DEPTH_MAX);
  if (!read.ok) return bad('tool-definition-unreadable', `its definition cannot be read: ${read.message}`);
  return definitionOf(identity, read.value);
};

/** A definition from its strictly read form: of a listing, or of a file of pins. */
export const definitionOf = (identity: string, value: StrictValue): ServerTool | Bad => {
  const said = saidOf(value);
  const { name, description, inputSchema } = said as Readonly<Record<string, StrictValue | undefined>>;
  const bad = (code: string, message: string): Bad => ({ name: shortName(name), code, message });
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX || hidden(name) !== undefined)
    return bad('tool-name-unusable', `a name has 1 to ${NAME_CHARS_MAX} visible characters`);
  if (description !== undefined && typeof description !== 'string')
    return bad('tool-definition-unreadable', 'its description is no text');
  const described = description ?? '';
  if (described.length > DESCRIPTION_CHARS_MAX)
    return bad(
      'tool-definition-too-large',
      `its description has ${described.length} characters, the limit is ${DESCRIPTION_CHARS_MAX}`,
    );
  const mark = hidden(textsIn(said));
  if (mark !== undefined)
    return bad(
      'tool-text-hidden',
      `its definition holds the character ${mark}, which a person who approves it would not see`,
    );
  const schema = schemaIn(inputSchema);
  if (typeof schema === 'string') return bad('schema-unusable', schema);
  return {
    name,
    description: described,
    inputSchema: schema,
    said: canonicalStrict(said),
    pin: sha256(`${canonical(identity)}\n${canonicalStrict(said)}`),
  };
};

/** `_meta` is for programs between client and server, and may change from one answer to the next. */
const saidOf = (value: StrictValue): StrictValue => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '_meta'));
};

const schemaIn = (given: StrictValue | undefined): JsonObject | string => {
  // Digits beyond 2^53 stay in the pin; a bound in a schema is a number like any other.
  const schema: unknown = given === undefined ? undefined : JSON.parse(canonicalStrict(given));
  if (!isJsonObject(schema) || schema['type'] !== 'object')
    return 'its inputSchema is no JSON Schema of an object';
  // Which draft it was written for is no part of what it asks; arguments are held against draft 2020-12.
  const { $schema: _, ...rest } = schema;
  const problem = schemaProblem(rest);
  return problem === undefined ? rest : `its inputSchema cannot be used: ${problem}`;
};

const nameIn = (text: string): string => {
  const found = sliceAt(text, ['name'])?.text ?? '""';
  return shortName(found.startsWith('"') ? (JSON.parse(found) as string) : found);
};

const shortName = (name: unknown): string => {
  const text = typeof name === 'string' ? name : '';
  return text.length > NAME_SHOWN_CHARS ? `${text.slice(0, NAME_SHOWN_CHARS).toWellFormed()}…` : text;
};

/** Every text in a value, keys included. */
const textsIn = (value: StrictValue | undefined): string => {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return '';
  if (Array.isArray(value)) return value.map(textsIn).join('\n');
  return Object.entries(value)
    .map(([key, member]) => `${key}\n${textsIn(member)}`)
    .join('\n');
};

/** Controls but for white space, format and private-use characters, halves of pairs, and the selectors that can carry text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;
/** White space, and what joins emoji. */
const SHOWN = /[\t\n\r]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d/gu;

const hidden = (text: string): string | undefined => {
  const found = HIDDEN.exec(text.replaceAll(SHOWN, ''))?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
};
