/** What a reply cost, put beside its usage before it is recorded: the record says by which price and of what day. */
import { costOf, inOrder, type Prices } from '../cost/prices.ts';
import type { PriceMark } from '../event/content.ts';
import type { ModelDefinition } from '../event/definition.ts';
import type { Logger } from '../tool/tool.ts';
import type { ModelReply } from '../model/model.ts';

/** Loaded when the first usage has to be priced: the catalogue is large. */
export type PriceSource = () => Promise<Prices>;

/** Overrides, then what is newer than the catalogue, then the catalogue. */
export const priceSource = (overrides?: Prices): PriceSource => {
  let loaded: Promise<Prices> | undefined;
  return () => (loaded ??= loadPrices(overrides));
};

export const loadPrices = async (overrides?: Prices): Promise<Prices> => {
  const [{ catalogue }, { LATER }] = await Promise.all([
    import('../cost/catalogue.ts'),
    import('../cost/later.ts'),
  ]);
  return inOrder(...(overrides ? [overrides] : []), LATER, catalogue);
};

type Question = { readonly prices: PriceSource; readonly at: number; readonly log: Logger };

/** Leaves a reply alone that says its cost, has no usage, or whose model no price list knows. */
export const priced = async <Reply extends ModelReply>(
  reply: Reply,
  { provider, name }: ModelDefinition,
  { prices, at, log }: Question,
): Promise<Reply & { readonly price?: PriceMark }> => {
  const { usage, cost } = reply;
  // A script is no provider: what it costs stands in it.
  if (cost !== undefined || !usage || provider === 'scripted') return reply;
  try {
    const known = costOf(await prices(), { provider, model: name, at }, usage);
    return known ? { ...reply, ...known } : reply;
  } catch (error) {
    // The reply is paid for and goes into the record, whatever is wrong with a price list.
    log.warn(`The cost of a reply of ${name} is unknown: ${String(error)}`);
    return reply;
  }
};
