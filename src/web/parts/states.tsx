/** What stands where nothing is to be seen: not yet, not there, not possible. */
import type { ReactNode } from 'react';
import { DoorError } from '../../client/client.ts';
import { Icon } from './icon.tsx';

export const Loading = ({ what }: { readonly what: string }): ReactNode => (
  <div className="loading" role="status" aria-label={`Loading ${what}`}>
    <span />
    <span />
    <span />
  </div>
);

export const Empty = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** What happened, why, what to do, and the stable code. */
export const ProblemNote = ({
  problem,
  again,
  what = 'This could not be loaded.',
}: {
  readonly problem: unknown;
  readonly again?: () => void;
  readonly what?: string;
}): ReactNode => {
  const { text, code } = problemWords(problem);
  return (
    <div className="problem" role="alert">
      <p className="what">
        <Icon name="fail" small />
        {what}
      </p>
      <p>{text}</p>
      <p className="now">
        {again && (
          <button type="button" className="button small" onClick={again}>
            Try again
          </button>
        )}
        <span className="caption">{code}</span>
      </p>
    </div>
  );
};

/** One line beside what was tried. */
export const ProblemLine = ({ problem }: { readonly problem: unknown }): ReactNode => {
  if (problem === undefined) return null;
  const { text, code } = problemWords(problem);
  return (
    <p className="message fail" role="alert">
      <Icon name="fail" small />
      <span>
        {text} <span className="caption">{code}</span>
      </span>
    </p>
  );
};

export const problemWords = (problem: unknown): { readonly text: string; readonly code: string } => {
  if (problem instanceof DoorError) return { text: problem.message, code: problem.code };
  return { text: 'The server does not answer. What is shown may be old.', code: 'no-answer' };
};
