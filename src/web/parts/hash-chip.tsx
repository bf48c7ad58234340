/** A digest or an id: shown short, copied whole. */
import type { ReactNode } from 'react';
import { shortDigest } from '../../view/format.ts';
import { announce } from '../shell/announcer.tsx';

export const HashChip = ({
  value,
  what,
  whole = false,
}: {
  readonly value: string;
  /** What it is, for those who hear the page: "digest", "session". */
  readonly what: string;
  readonly whole?: boolean;
}): ReactNode => (
  <button
    type="button"
    className="hash"
    title={`${value}\nCopy the whole ${what}`}
    onClick={() => copy(value, what)}
  >
    {shortDigest(value, whole)}
    <span className="unseen">, copy the whole {what}</span>
  </button>
);

export const copy = (text: string, what: string): void => {
  navigator.clipboard.writeText(text).then(
    () => announce(`The ${what} is copied.`),
    () => announce(`The browser does not let the ${what} be copied.`),
  );
};
