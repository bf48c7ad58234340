/** A request exactly as the model got it: its parts and why, what is other than before, its bytes, the reply; and the next. */
import type { ReactNode } from 'react';
import type { RequestPartsView } from '../../server/window-shapes.ts';
import { setQuery } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Icon } from '../parts/icon.tsx';
import { Moment } from '../parts/moment.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { useCommands } from '../shell/commands.ts';
import { RawBytes, Reply } from './request-bytes.tsx';
import { RequestDiff } from './request-diff.tsx';
import { Parts } from './request-parts.tsx';
import { sessionUrl } from './session-data.ts';

type Props = {
  readonly session: string;
  /** Counted from 1; 0: there is none yet. */
  readonly number: number | 'next';
  /** The last one that is there at the place looked at. */
  readonly last: number;
  readonly isPast: boolean;
  readonly tab: string;
  readonly selected: number | undefined;
  readonly head: number;
};

type Tab = 'parts' | 'diff' | 'raw' | 'reply';

export const RequestPane = (props: Props): ReactNode => {
  const { session, number, last, isPast, tab, head } = props;
  const isNext = number === 'next';
  const path = sessionUrl(session, isNext ? '/next-request' : `/requests/${number}/parts`);
  const key =
    number === 0 ? undefined : isNext ? `${path} ${head}` : `${path} ${answered(number, last, head)}`;
  const { data, problem, again } = useQuery<RequestPartsView>(key, (signal) => door.read(path, signal), {
    keepLast: true,
  });
  const step = (by: number): void => {
    const now = isNext ? last + 1 : number;
    const to = Math.max(1, now + by);
    setQuery({ req: to <= last ? to : isPast ? last : 'next' });
  };
  const open = (name: Tab): void => setQuery({ tab: name === 'parts' ? undefined : name });
  useCommands([
    { label: 'Diff with the previous request', keys: 'd', run: () => open('diff') },
    { label: 'Previous request', run: () => step(-1) },
    { label: 'Next request', run: () => step(1) },
  ]);
  const shown: Tab = isNext ? 'parts' : (TABS.find((name) => name === tab) ?? 'parts');
  return (
    <>
      <div className="pane-title">
        <h2>{isNext ? 'Next request' : number === 0 ? 'Request' : `Request ${number}`}</h2>
        <span className="caption clip">
          {isNext
            ? 'as it would be sent now'
            : data &&
              data.at !== null && (
                <>
                  as {data.model} got it, <Moment at={data.at} />
                </>
              )}
        </span>
        <button
          className="button quiet small push"
          type="button"
          aria-label="Previous request"
          onClick={() => step(-1)}
        >
          <Icon name="left" small />
        </button>
        <button
          className="button quiet small"
          type="button"
          aria-label="Next request"
          onClick={() => step(1)}
        >
          <Icon name="right" small />
        </button>
        <kbd>3</kbd>
      </div>
      {!isNext && number > 0 && <Tabs number={number} shown={shown} open={open} />}
      {number === 0 ? (
        <Empty title="No request yet">
          <p>The model was not asked anything so far.</p>
        </Empty>
      ) : (
        <div
          className="scroll"
          tabIndex={0}
          role={isNext ? 'region' : 'tabpanel'}
          id="request-panel"
          aria-label={isNext ? 'Next request, scrollable' : undefined}
          aria-labelledby={isNext ? undefined : `request-tab-${shown}`}
        >
          <Body shown={shown} data={data} problem={problem} again={again} {...props} />
        </div>
      )}
    </>
  );
};

/** The last request may have been answered since; the others stand as they are. */
const answered = (number: number, last: number, head: number): string => (number >= last ? String(head) : '');

const TABS: readonly Tab[] = ['parts', 'diff', 'raw', 'reply'];

const Tabs = ({
  number,
  shown,
  open,
}: {
  readonly number: number;
  readonly shown: Tab;
  readonly open: (tab: Tab) => void;
}): ReactNode => {
  const labels: Readonly<Record<Tab, string>> = {
    parts: 'Parts',
    diff: number > 1 ? `Diff with ${number - 1}` : 'Diff',
    raw: 'Raw bytes',
    reply: 'Reply',
  };
  const move = (by: number): void => {
    const next = TABS[(TABS.indexOf(shown) + by + TABS.length) % TABS.length];
    if (!next) return;
    open(next);
    document.getElementById(`request-tab-${next}`)?.focus();
  };
  return (
    <div
      className="tabs"
      role="tablist"
      aria-label="Views of the request"
      onKeyDown={({ key }) => {
        if (key === 'ArrowRight') move(1);
        if (key === 'ArrowLeft') move(-1);
      }}
    >
      {TABS.map((name) => (
        <button
          key={name}
          id={`request-tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === shown}
          aria-controls="request-panel"
          tabIndex={name === shown ? 0 : -1}
          onClick={() => open(name)}
        >
          {labels[name]}
        </button>
      ))}
    </div>
  );
};

type BodyProps = Props & {
  readonly shown: Tab;
  readonly data: RequestPartsView | undefined;
  readonly problem: unknown;
  readonly again: () => void;
};

const Body = ({ shown, data, problem, again, session, number, selected }: BodyProps): ReactNode => {
  if (shown === 'diff' && number !== 'next') return <RequestDiff session={session} number={number} />;
  if (shown === 'raw' && number !== 'next') return <RawBytes session={session} number={number} />;
  if (!data)
    return problem === undefined ? (
      <Loading what="the request" />
    ) : (
      <ProblemNote problem={problem} again={again} />
    );
  if (shown === 'reply') return <Reply session={session} seq={data.answer?.seq} />;
  return <Parts view={data} selected={selected} />;
};
