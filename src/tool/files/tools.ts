/** The built-in file tools: list, read, search, write and edit inside one folder. */
import type { OutputLabels, Tool } from '../tool.ts';
import { editTool } from './edit.ts';
import { Folder, openFolder } from './folder.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { writeTool } from './write.ts';

export type FolderToolOptions = {
  /** The folder, which must exist, or one that openFolder() made. */
  readonly root: string | Folder;
  /** What the tools' names begin with. */
  readonly prefix?: string;
  /** Paths refused by identity: the store, the policy. Only with `root` as a path. */
  readonly protect?: readonly string[];
  /** Leave the tools out that write. Default false. */
  readonly readOnly?: boolean;
  /** The folder holds files from outside: their text may carry instructions to the model. Default false. */
  readonly untrusted?: boolean;
};

/** The folder that options name. */
export const folderOf = ({ root, protect, readOnly }: FolderToolOptions): Folder =>
  root instanceof Folder
    ? root
    : openFolder(root, { ...(protect && { protect }), ...(readOnly !== undefined && { readOnly }) });

/** Labels of what is read from a folder: always private, untrusted where files come from outside. */
export const folderLabels = ({ untrusted = false }: FolderToolOptions): OutputLabels => ({
  private: true,
  untrusted,
});

/**
 * files.list, files.read, files.search, files.write and files.edit, confined to `root` by the kernel (on
 * Linux; directory.ts says what holds elsewhere). Writes are `reconcilable`, are shown as a diff, and are
 * refused if the file is no longer the one that was shown.
 *
 * Errors for the model: outside-root, bad-name, name-unclear, not-found, not-a-file, not-a-folder, hard-link,
 * protected-path, file-changed, file-exists, file-too-large, edit-not-found, edit-ambiguous,
 * edit-changes-nothing, not-text, text-not-encodable, line-not-found, no-permission, read-only, disk-full,
 * cancelled, write-not-confirmed.
 */
export const fileTools = (options: FolderToolOptions): readonly Tool[] => {
  const folder = folderOf(options);
  const labels = folderLabels(options);
  const prefix = options.prefix ?? 'files';
  const reading = [
    listTool(folder, `${prefix}.list`, labels),
    readTool(folder, `${prefix}.read`, labels),
    searchTool(folder, `${prefix}.search`, labels),
  ];
  if (options.readOnly ?? folder.readOnly) return reading;
  return [...reading, writeTool(folder, `${prefix}.write`), editTool(folder, `${prefix}.edit`)];
};
