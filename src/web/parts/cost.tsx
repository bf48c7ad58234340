/** Money as far as it is known; what is not known is said in words, never as a zero. */
import type { ReactNode } from 'react';
import { formatCost } from '../../view/format.ts';

export const Cost = ({
  usd,
  estimate = false,
}: {
  /** US dollars; null where a part of it is unknown. */
  readonly usd: number | null;
  readonly estimate?: boolean;
}): ReactNode => {
  if (usd === null) return <span className="dim">unknown</span>;
  return <span>{estimate ? `about ${formatCost(usd)}` : formatCost(usd)}</span>;
};
