/** A link inside the window: goes there without loading the page anew, and stays a link for everything else. */
import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { go } from '../data/address.ts';

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  readonly to: string;
  readonly replace?: boolean;
};

export const Link = ({ to, replace = false, onClick, ...rest }: LinkProps): ReactNode => (
  <a
    {...rest}
    href={to}
    onClick={(event) => {
      onClick?.(event);
      if (event.defaultPrevented || wantsMore(event)) return;
      event.preventDefault();
      go(to, { replace });
    }}
  />
);

/** A new tab, a new window, a download. */
const wantsMore = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button !== 0 || metaKey || ctrlKey || shiftKey || altKey;
