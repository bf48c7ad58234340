import { z } from 'zod';
import { tool, ToolError, type OutputLabels, type Tool, type ToolContext } from '../tool.ts';
import type { Entry, Folder } from './folder.ts';
import { GLOB_CHARS_MAX, matchesGlob } from './glob.ts';
import { lineStarts } from './lines.ts';
import { decodeText } from './text.ts';

export const SEARCH_HITS_MAX = 200;
const SEARCH_HITS_DEFAULT = 50;
/** Entries looked at by one search. */
export const SEARCH_ENTRIES_MAX = 20_000;
/** Bytes read by one search. */
export const SEARCH_BYTES_MAX: number = 64 * 1024 * 1024;
/** A larger file is skipped and counted. */
export const SEARCH_FILE_BYTES_MAX: number = 4 * 1024 * 1024;
export const SEARCH_MS_MAX = 10_000;
const SEARCH_DEPTH_MAX = 32;
/** Characters of a line that is shown around the hit. */
const HIT_CHARS_MAX = 300;
/** Left out unless `path` leads into them: nobody's own text, and a lot of it. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const Input = z.strictObject({
  text: z.string().min(1).max(1000).describe('Text to find, literally, within one line'),
  path: z.string().optional().describe('Folder to search in; left out: the whole folder of this tool'),
  files: z
    .string()
    .min(1)
    .max(GLOB_CHARS_MAX)
    .optional()
    .describe(
      'Only files whose path matches: "*.md", "docs/**/*.txt". * and ? within a name, ** any folders',
    ),
  ignoreCase: z.boolean().optional().describe('Default false'),
  limit: z.int().min(1).max(SEARCH_HITS_MAX).optional().describe(`Hits. Default ${SEARCH_HITS_DEFAULT}`),
});

type Hit = { readonly path: string; readonly line: number; readonly text: string };

type Hunt = {
  readonly folder: Folder;
  readonly wanted: string;
  readonly files: string | undefined;
  readonly ignoreCase: boolean;
  readonly limit: number;
  readonly context: ToolContext;
  readonly until: number;
  readonly hits: Hit[];
  filesRead: number;
  bytesRead: number;
  entries: number;
  skipped: number;
  /** Why the search ended before everything was looked at. */
  stopped: string | undefined;
};

const isOver = (hunt: Hunt): boolean => {
  if (hunt.context.signal.aborted) throw new ToolError('The search was cancelled.', { code: 'cancelled' });
  if (hunt.stopped === undefined) {
    if (hunt.entries > SEARCH_ENTRIES_MAX) hunt.stopped = 'too many files';
    else if (hunt.bytesRead > SEARCH_BYTES_MAX) hunt.stopped = 'too many bytes';
    else if (hunt.context.now() > hunt.until) hunt.stopped = 'out of time';
  }
  return hunt.stopped !== undefined;
};

const excerpt = (line: string, at: number, length: number): string => {
  const trimmed = line.replace(/\r?\n$/u, '');
  if (trimmed.length <= HIT_CHARS_MAX) return trimmed;
  const from = Math.max(0, Math.min(at - 100, at + length - HIT_CHARS_MAX));
  const cut = trimmed.slice(from, from + HIT_CHARS_MAX).replaceAll(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? '…' : ''}${cut}${from + HIT_CHARS_MAX < trimmed.length ? '…' : ''}`;
};

const searchText = (hunt: Hunt, path: string, text: string): void => {
  const folded = (value: string): string => (hunt.ignoreCase ? value.toLowerCase() : value);
  const wanted = folded(hunt.wanted);
  if (!folded(text).includes(wanted)) return;
  const starts = lineStarts(text);
  for (const [at, start] of starts.entries()) {
    const line = text.slice(start, starts[at + 1] ?? text.length);
    const position = folded(line).indexOf(wanted);
    if (position === -1) continue;
    if (hunt.hits.length >= hunt.limit) {
      hunt.stopped = 'enough hits';
      return;
    }
    hunt.hits.push({ path, line: at + 1, text: excerpt(line, position, wanted.length) });
  }
};

const searchFile = async (hunt: Hunt, { path, bytes = 0 }: Entry): Promise<void> => {
  if (hunt.files !== undefined && !matchesGlob(hunt.files, path)) return;
  if (bytes > SEARCH_FILE_BYTES_MAX) {
    hunt.skipped += 1;
    return;
  }
  try {
    const file = await hunt.folder.read(path, SEARCH_FILE_BYTES_MAX);
    hunt.bytesRead += file.bytes.length;
    const decoded = decodeText(file.bytes);
    if (!decoded) hunt.skipped += 1;
    else {
      hunt.filesRead += 1;
      searchText(hunt, path, decoded.text);
    }
  } catch (error) {
    // A file that vanished, is locked away or has a second name is no reason to find nothing.
    if (!(error instanceof ToolError)) throw error;
    hunt.skipped += 1;
  }
};

const searchFolder = async (hunt: Hunt, path: string, depth: number): Promise<void> => {
  const entries: Entry[] = [];
  for await (const entry of hunt.folder.entries(path)) {
    hunt.entries += 1;
    if (isOver(hunt)) return;
    entries.push(entry);
  }
  for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (isOver(hunt)) return;
    const name = entry.path.split('/').at(-1) ?? '';
    if (entry.kind === 'file') await searchFile(hunt, entry);
    else if (entry.kind !== 'folder' || SKIPPED_FOLDERS.has(name) || depth >= SEARCH_DEPTH_MAX)
      hunt.skipped += 1;
    else
      await searchFolder(hunt, entry.path, depth + 1).catch((error: unknown) => {
        if (!(error instanceof ToolError) || error.code === 'cancelled') throw error;
        hunt.skipped += 1;
      });
  }
};

/**
 * Finds a text. Result {hits: [{path, line, text}], filesRead, skipped, stopped?}: `stopped` says why not
 * everything was looked at, `skipped` counts what is not text, too large, a link or not to be opened.
 */
export const searchTool = (folder: Folder, name: string, labels: OutputLabels): Tool =>
  tool({
    name,
    description:
      'Find a literal text in the files of a folder and its subfolders, line by line. ' +
      'Skips ".git" and "node_modules", files that are not text and links.',
    inputSchema: Input,
    effect: 'none',
    labels,
    execute: async ({ text, path = '', files, ignoreCase = false, limit = SEARCH_HITS_DEFAULT }, context) => {
      const hunt: Hunt = {
        folder,
        wanted: text,
        files,
        ignoreCase,
        limit,
        context,
        until: context.now() + SEARCH_MS_MAX,
        hits: [],
        filesRead: 0,
        bytesRead: 0,
        entries: 0,
        skipped: 0,
        stopped: undefined,
      };
      await searchFolder(hunt, path, 1);
      const { hits, filesRead, skipped, stopped } = hunt;
      return { hits, filesRead, skipped, ...(stopped !== undefined && { stopped }) };
    },
  });
