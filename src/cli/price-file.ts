/** Prices that people write, for models that no catalogue knows or for a contract of their own: YAML, checked. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { priceList, type PriceRow, type Prices } from '../cost/prices.ts';
import { badInput } from '../errors.ts';
import { readYaml } from './yaml-file.ts';

const CODE = 'price-file-invalid';

const usd = z.number().min(0);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day, as in "2026-10-07"');

const RATES = {
  input: usd,
  output: usd,
  cacheRead: usd.optional(),
  cacheWrite: usd.optional(),
  cacheWriteLong: usd.optional(),
} as const;

const schema: z.ZodType = z.strictObject({
  date: day,
  models: z.array(
    z.strictObject({
      provider: z.string().min(1),
      model: z.string().min(1),
      from: day.optional(),
      ...RATES,
      tiers: z.array(z.strictObject({ above: z.number().int().min(1), ...RATES })).optional(),
    }),
  ),
});

type FileRates = PriceRow['base'];

type PriceFile = {
  readonly date: string;
  readonly models: readonly (FileRates & {
    readonly provider: string;
    readonly model: string;
    readonly from?: string;
    readonly tiers?: readonly (FileRates & { readonly above: number })[];
  })[];
};

/** Reads a price file. `where` is relative to the folder. Throws `price-file-invalid`, `price-file-not-found`. */
export const readPriceFile = (folder: string, where: string): Prices => {
  const path = resolve(folder, where);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw badInput('price-file-not-found', `There is no price file ${where}.`, { where });
  const file = readYaml(readFileSync(path), { where, code: CODE }).check(schema) as PriceFile;
  const rows = file.models.map(({ provider, model, from, tiers = [], ...base }): PriceRow => ({
    provider,
    model,
    base,
    tiers: tiers.map(({ above, ...rates }) => ({ above, rates })),
    ...(from !== undefined && { from }),
  }));
  return priceList(rows, { source: where, date: file.date });
};
