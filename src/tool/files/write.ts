import { z } from 'zod';
import { ToolError, type Tool } from '../tool.ts';
import { changeTool } from './change.ts';
import { showChange } from './diff.ts';
import { tooLarge } from './fault.ts';
import type { Folder } from './folder.ts';
import { encodeText } from './text.ts';

/** Bytes of a text that a call may write. */
export const WRITE_BYTES_MAX: number = 4 * 1024 * 1024;

const Input = z.strictObject({
  path: z.string().describe('File to create or to replace as a whole, from the folder down: "notes/a.txt"'),
  text: z.string().describe('The whole new content. Stored as UTF-8, line ends as given'),
  new: z
    .boolean()
    .optional()
    .describe('true: only create, and refuse if the file is there already. Default false'),
});

/** Creates a file or replaces it as a whole. `reconcilable`; result {path, sha256, bytes, created}. */
export const writeTool = (folder: Folder, name: string): Tool =>
  changeTool({
    folder,
    name,
    description:
      'Create a text file, or replace an existing one as a whole. To change a part of a file use the edit tool. ' +
      'Folders that are missing are created.',
    inputSchema: Input,
    plan: async ({ path, text, new: onlyNew = false }) => {
      const after = encodeText(text, 'utf-8');
      if (after.length > WRITE_BYTES_MAX) throw tooLarge(path, WRITE_BYTES_MAX);
      const place = await folder.look(path);
      if (onlyNew && place.file)
        throw new ToolError(`"${place.path}" is there already. Use another name, or leave out "new".`, {
          code: 'file-exists',
          details: { path: place.path },
        });
      const shown = showChange(place.path, place.file?.bytes, after);
      const title = place.file ? 'Replace a file' : 'Create a file';
      return { place, after, title, ...shown, facts: {} };
    },
  });
