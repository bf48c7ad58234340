/** Whether what is shown is what is: a word in the bar, and a band across the page while it is not. */
import { useEffect, useState, type ReactNode } from 'react';
import { formatTime } from '../../view/format.ts';
import { connection, tryNow } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { Icon } from '../parts/icon.tsx';
import { useZone } from '../parts/moment.tsx';

export const LiveSign = (): ReactNode => {
  const { kind } = useStore(connection);
  const word = { connecting: 'Connecting', live: 'Live', offline: 'Offline' }[kind];
  return <span className={kind === 'live' ? 'live' : 'live off'}>{word}</span>;
};

export const ConnectionBanner = (): ReactNode => {
  const state = useStore(connection);
  const zone = useZone();
  if (state.kind !== 'offline') return null;
  return (
    <div className="banner wait" role="status">
      <Icon name="warn" small />
      <span>
        Offline since {formatTime(state.since, { zone, now: Date.now() })}. You are reading what was loaded;
        nothing can be decided or sent until the server is back. <Countdown until={state.nextAt} />
      </span>
      <button className="button small push" type="button" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
};

const SECOND_MS = 1000;

const Countdown = ({ until }: { readonly until: number }): ReactNode => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / SECOND_MS));
  return <span aria-hidden="true">{seconds === 0 ? 'Trying again.' : `Trying again in ${seconds} s.`}</span>;
};
