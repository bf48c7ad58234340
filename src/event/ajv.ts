/** Ajv, loaded when the first schema needs it: that takes longer than all else that a short command does. */
import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';

type Options = NonNullable<ConstructorParameters<typeof Ajv2020>[0]>;

/** Reads schemas of draft 2020-12 as other validators do: unknown keywords and formats say nothing. */
export const newAjv = (options: Options = {}): Ajv2020 => {
  const library = createRequire(import.meta.url)('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
  return new library.Ajv2020({ strict: false, validateFormats: false, ...options });
};
