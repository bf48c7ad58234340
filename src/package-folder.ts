import { join } from 'node:path';

/** The folder of the code: `src` in a checkout, `dist` in the package. */
export const CODE_FOLDER: string = import.meta.dirname;

/** What a file of ours ends with there. */
export const CODE_SUFFIX: 'ts' | 'js' = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** The folder that package.json lies in. */
export const PACKAGE_FOLDER: string = join(CODE_FOLDER, '..');
