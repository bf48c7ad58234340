/**
 * A path as a model writes it, taken apart. Purely about text: what a name means on the disk is asked of the
 * disk (directory.ts). Refused here is every text that two programs could read as two places.
 */
import { ToolError } from '../tool.ts';
import { counted, quoted } from './fault.ts';

/** UTF-8 bytes of one name, the limit of the common file systems. */
export const NAME_BYTES_MAX = 255;
/** UTF-8 bytes of a whole path. */
export const PATH_BYTES_MAX = 4096;
/** Folders in a row. */
export const PATH_DEPTH_MAX = 64;

const refuse = (code: string, path: string, says: string): ToolError =>
  new ToolError(`The path ${quoted(path)} ${says}`, { code, details: { path: path.toWellFormed() } });

/** C0 controls and DEL: a name with a line break could write its own line in a list or a diff. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/u;

const checkName = (name: string, path: string): void => {
  if (name === '..') throw refuse('outside-root', path, 'contains "..". Name files from the folder down.');
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw refuse('bad-name', path, `has a name of more than ${NAME_BYTES_MAX} bytes. Use a shorter name.`);
  if (/[. ]$/u.test(name))
    throw refuse(
      'bad-name',
      path,
      'has a name that ends with a dot or a space, which some disks drop. Use another name.',
    );
};

/**
 * The names of a relative path, from the folder down; [] for the folder itself. "." and double slashes are
 * left out. Throws `outside-root` (absolute, "..", drive letters) and `bad-name` (NUL and other control
 * characters, backslashes, half surrogate pairs, trailing dots or spaces, over 255 bytes a name).
 */
export const parsePath = (path: string): readonly string[] => {
  if (CONTROL.test(path)) throw refuse('bad-name', path, 'contains a control character. Use a plain name.');
  if (!path.isWellFormed())
    throw refuse('bad-name', path, 'contains half a surrogate pair, which no disk can store.');
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/u.test(path) || path.startsWith('\\') || path.startsWith('~/'))
    throw refuse(
      'outside-root',
      path,
      'is absolute. Name files from the folder down, for example "a/b.txt".',
    );
  if (path.includes('\\')) throw refuse('bad-name', path, 'contains a backslash. Separate folders with "/".');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw refuse('bad-name', path, `is longer than ${counted(PATH_BYTES_MAX)} bytes.`);
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > PATH_DEPTH_MAX)
    throw refuse('bad-name', path, `is more than ${PATH_DEPTH_MAX} folders deep.`);
  for (const name of names) checkName(name, path);
  return names;
};

/** The same, for a path that must name a file: at least one name, no slash at the end. */
export const parseFilePath = (
  path: string,
): { readonly folders: readonly string[]; readonly name: string } => {
  const names = parsePath(path);
  const name = names.at(-1);
  if (name === undefined) throw refuse('not-a-file', path, 'names the folder itself. Name a file in it.');
  if (path.endsWith('/'))
    throw refuse('not-a-file', path, 'ends with "/" and so names a folder. Name a file.');
  return { folders: names.slice(0, -1), name };
};

/**
 * One spelling for all names that a disk without regard to case or to Unicode composition takes for one.
 * Upper, then lower case: so that "ß", "SS" and "ss" meet, as they do in full case folding.
 */
export const foldName = (name: string): string =>
  name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
