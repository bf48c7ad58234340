/** The four classes of tokens in the order in which they are billed. They are disjoint and sum to the total. */
import type { ReactNode } from 'react';
import type { Usage } from '../../event/content.ts';
import { formatCount } from '../../view/format.ts';

export const TOKEN_CLASSES = [
  { key: 'cacheRead', word: 'read', className: 'read' },
  { key: 'cacheWrite', word: 'written', className: 'written' },
  { key: 'input', word: 'uncached', className: 'uncached' },
  { key: 'output', word: 'output', className: 'output' },
] as const;

export const TokenKeys = ({ usage }: { readonly usage: Usage }): ReactNode => (
  <div className="token-keys">
    <span>Provider:</span>
    {TOKEN_CLASSES.map(({ key, word, className }) => (
      <span key={key} className="nowrap">
        <span className={`token-key ${className}`} />
        {word} {formatCount(usage[key])}
      </span>
    ))}
  </div>
);
