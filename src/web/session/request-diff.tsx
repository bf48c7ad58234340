/** What a request does not share with the one before it, part by part; what is the same is counted. */
import type { ReactNode } from 'react';
import type { RequestDiffView } from '../../server/window-shapes.ts';
import { countOf, formatCount } from '../../view/format.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Seq } from '../parts/seq.tsx';
import { Loading, ProblemNote } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { sessionUrl } from './session-data.ts';

export const RequestDiff = ({
  session,
  number,
}: {
  readonly session: string;
  readonly number: number;
}): ReactNode => {
  const path = sessionUrl(session, `/requests/${number}/diff`);
  const { data, problem, again } = useQuery<RequestDiffView>(path, (signal) => door.read(path, signal));
  if (problem !== undefined) return <ProblemNote problem={problem} again={again} />;
  if (!data) return <Loading what="the difference" />;
  return (
    <div className="part-diff">
      <p className="caption foot">
        {data.against === null
          ? 'The first request: nothing stands before it.'
          : `Against request ${data.against}. A cache reuses a common beginning only: everything behind the first difference is sent anew.`}
      </p>
      {data.changes.map((change, at) => (
        <Change key={`${change.sign} ${change.seq ?? ''} ${at}`} change={change} />
      ))}
    </div>
  );
};

const WORDS = { '=': 'same', '+': 'new', '-': 'gone' } as const;
const CLASSES = { '=': 'same', '+': 'add', '-': 'del' } as const;

const Change = ({
  change: { sign, seq, count, text, length },
}: {
  readonly change: RequestDiffView['changes'][number];
}): ReactNode => {
  if (sign === '=')
    return (
      <div className="change same">
        <span className="seq">=</span>
        <span className="caption">
          {countOf(count, 'part')} of {formatCount(length)} characters, the same
        </span>
      </div>
    );
  return (
    <div className={`change ${CLASSES[sign]}`}>
      <Seq seq={seq} />
      <div>
        <span className="tag">
          <span aria-hidden="true">{sign}</span> {WORDS[sign]}
        </span>
        <pre>
          <Revealed text={pretty(text, length)} newlines indent />
        </pre>
        {text.length < length && (
          <p className="caption">
            The first {formatCount(text.length)} of {formatCount(length)} characters. All of them are in the
            raw bytes.
          </p>
        )}
      </div>
    </div>
  );
};

/** A part is JSON; one that was cut is shown as it stands. */
const pretty = (text: string, length: number): string => {
  if (text.length < length) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
