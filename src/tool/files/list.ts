import { z } from 'zod';
import { tool, type OutputLabels, type Tool } from '../tool.ts';
import type { Entry, Folder } from './folder.ts';

/** Entries of one answer. */
export const LIST_ENTRIES_MAX = 1000;
export const LIST_DEPTH_MAX = 10;

const Input = z.strictObject({
  path: z.string().optional().describe('Folder to list; left out: the whole folder of this tool'),
  depth: z
    .int()
    .min(1)
    .max(LIST_DEPTH_MAX)
    .optional()
    .describe('Levels of folders to go down. Default 1: this folder alone'),
});

const byPath = (a: Entry, b: Entry): number => (a.path < b.path ? -1 : Number(a.path > b.path));

type Listing = { readonly entries: Entry[]; more: boolean };

const listInto = async (folder: Folder, path: string, depth: number, listing: Listing): Promise<void> => {
  const here: Entry[] = [];
  for await (const entry of folder.entries(path)) {
    if (listing.entries.length + here.length >= LIST_ENTRIES_MAX) {
      listing.more = true;
      break;
    }
    here.push(entry);
  }
  for (const entry of here.toSorted(byPath)) listing.entries.push(entry);
  if (depth <= 1) return;
  for (const { path: below, kind } of here.toSorted(byPath))
    if (kind === 'folder' && !listing.more) await listInto(folder, below, depth - 1, listing);
};

/**
 * Lists a folder. Result {path, entries: [{path, kind: file | folder | link | other | protected, bytes?}],
 * more}; `more` says that there are entries beyond the limit.
 */
export const listTool = (folder: Folder, name: string, labels: OutputLabels): Tool =>
  tool({
    name,
    description:
      'List files and folders. Links are named and never followed. At most ' +
      `${LIST_ENTRIES_MAX} entries; "more" is true where some were left out.`,
    inputSchema: Input,
    effect: 'none',
    labels,
    execute: async ({ path = '', depth = 1 }) => {
      const listing: Listing = { entries: [], more: false };
      await listInto(folder, path, depth, listing);
      return { path, entries: listing.entries.toSorted(byPath), more: listing.more };
    },
  });
