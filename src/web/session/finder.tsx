/** Which events are shown: by their kind, by words in them. The server looks; the page gets their numbers. */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { countOf } from '../../view/format.ts';
import { useCommands } from '../shell/commands.ts';

export type Wanted = { readonly q: string; readonly kinds: string };

const KINDS: readonly (readonly [string, string])[] = [
  ['', 'Every event'],
  ['turn.', 'Turns'],
  ['request.,response.', 'Requests and answers'],
  ['call.', 'Calls'],
  ['approval.,call.settled,turn.,mode.', 'What people did and were asked'],
  [
    'request.failed,request.refused,call.failed,call.refused,call.rejected,call.doubted,driver.',
    'What went wrong',
  ],
];

const PAUSE_MS = 250;

export const Finder = ({
  wanted,
  change,
  count,
}: {
  readonly wanted: Wanted;
  readonly change: (wanted: Wanted) => void;
  readonly count: number | undefined;
}): ReactNode => {
  const [text, setText] = useState(wanted.q);
  const field = useRef<HTMLInputElement>(null);
  useCommands([{ label: 'Search in this session', keys: '/', run: () => field.current?.focus() }]);
  useEffect(() => {
    if (text.trim() === wanted.q) return undefined;
    const timer = setTimeout(() => change({ ...wanted, q: text.trim() }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, wanted, change]);
  return (
    <div className="finder">
      <input
        ref={field}
        type="search"
        aria-label="Search in the events of this session"
        placeholder="Search in all events"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <select
        aria-label="Kinds of events"
        value={wanted.kinds}
        onChange={(event) => change({ ...wanted, kinds: event.target.value })}
      >
        {KINDS.map(([kinds, label]) => (
          <option key={kinds} value={kinds}>
            {label}
          </option>
        ))}
      </select>
      <span className="caption" role="status">
        {count === undefined ? '' : countOf(count, 'event')}
      </span>
    </div>
  );
};
