/**
 * Text that somebody else wrote: never markup, never a link, and nothing in it that is not seen. What strangers wrote
 * stands on a ground of its own, everywhere the same.
 */
import type { ReactNode } from 'react';
import { segments, type RevealOptions } from '../../view/reveal.ts';

/** Hidden and misleading characters as marks. */
export const Revealed = ({
  text,
  ...options
}: RevealOptions & {
  readonly text: string;
}): ReactNode =>
  segments(text, options).map((segment, at) =>
    segment.hidden === undefined ? (
      segment.text
    ) : (
      <span key={at} className="hidden-character" title={`a ${segment.hidden.kind} character, made visible`}>
        {segment.text}
      </span>
    ),
  );

/** A text of several lines. */
export const PlainText = ({ text }: { readonly text: string }): ReactNode => (
  <div className="plain-text">
    <Revealed text={text} newlines tabs indent />
  </div>
);

export const StrangersText = ({
  text,
  source,
}: {
  readonly text: string;
  /** Where it comes from: "mail.read, event 33". */
  readonly source: ReactNode;
}): ReactNode => (
  <blockquote className="stranger">
    <PlainText text={text} />
    <footer>{source}</footer>
  </blockquote>
);
