/** The number of an event: the link, the selection and the address in every reading. */
import type { ReactNode } from 'react';
import { addressWith } from '../data/address.ts';
import { Link } from './link.tsx';

export const Seq = ({ seq }: { readonly seq: number | undefined }): ReactNode => {
  if (seq === undefined) return <span className="seq">·</span>;
  return (
    <Link
      className="seq"
      to={addressWith({ sel: seq, req: undefined })}
      replace
      aria-label={`Event ${seq}`}
      data-select={seq}
    >
      {seq}
    </Link>
  );
};
