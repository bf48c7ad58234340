/**
 * Definitions that a person has approved, in a file beside the configuration: whole, so that a change can be shown, and
 * each with its pin, so that an edit of the file is no approval.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { badInput, type OnrecordError } from '../../errors.ts';
import { parseStrict, type StrictValue } from '../../event/strict.ts';
import { definitionOf, type ServerTool } from './definition.ts';

export const PINS_BYTES_MAX: number = 4 * 1024 * 1024;
const VERSION = 1;
/** A definition lies in a server, which lies in the servers of the file. */
const PINS_DEPTH_MAX = 100;

export type Pinned = {
  /** The name that the server gave itself. */
  readonly serverName: string;
  readonly tools: readonly ServerTool[];
};

const invalid = (path: string, what: string): OnrecordError =>
  badInput('tool-pins-invalid', `${basename(path)}: ${what}.`, { path }, 'onrecord mcp');

type Fields = { readonly [key: string]: StrictValue | undefined };
const fieldsOf = (value: StrictValue | undefined): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};

/** By name of server. Throws `tool-pins-invalid`. */
export const readPins = (path: string): ReadonlyMap<string, Pinned> => {
  if (!existsSync(path)) return new Map();
  const { size } = statSync(path);
  if (size > PINS_BYTES_MAX) throw invalid(path, `it has ${size} bytes, the limit is ${PINS_BYTES_MAX}`);
  const read = parseStrict(readFileSync(path, 'utf8'), PINS_DEPTH_MAX);
  if (!read.ok) throw invalid(path, read.message);
  const { version, servers } = fieldsOf(read.value);
  if (version !== VERSION)
    throw invalid(path, `it is not of version ${VERSION}, which is the one that this program knows`);
  return new Map(
    Object.entries(fieldsOf(servers)).map(([name, server]) => [name, pinnedOf(path, name, fieldsOf(server))]),
  );
};

const pinnedOf = (path: string, server: string, { serverName, tools }: Fields): Pinned => {
  if (typeof serverName !== 'string' || !Array.isArray(tools))
    throw invalid(path, `server "${server}" has no name and tools`);
  return {
    serverName,
    tools: tools.map((entry) => {
      const { pin, definition } = fieldsOf(entry);
      const tool = definitionOf(identityOf(server, serverName), definition ?? null);
      if ('code' in tool) throw invalid(path, `server "${server}", tool "${tool.name}": ${tool.message}`);
      if (tool.pin !== pin)
        throw invalid(
          path,
          `server "${server}", tool "${tool.name}": the definition is not the one that was approved. ` +
            'Somebody has changed the file; approve it again',
        );
      return tool;
    }),
  };
};

/** What a pin says of the server: the name that the configuration gives it, and the one that it gives itself. */
export const identityOf = (server: string, serverName: string): string => `${server}\n${serverName}`;

/** Writes the file anew, whole or not at all. */
export const writePins = (path: string, pins: ReadonlyMap<string, Pinned>): void => {
  const servers = Object.fromEntries(
    [...pins]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { serverName, tools }]) => [
        name,
        {
          serverName,
          tools: tools
            .toSorted((a, b) => (a.name < b.name ? -1 : 1))
            .map(({ pin, said }) => ({ pin, definition: exact(said) })),
        },
      ]),
  );
  writeFileSync(`${path}.new`, `${JSON.stringify({ version: VERSION, servers }, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
};

/** A value that JSON.stringify writes with all the digits of this text. */
const exact = (text: string): unknown => {
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value,
  );
};
