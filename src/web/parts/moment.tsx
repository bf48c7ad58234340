/** A moment as people read it, always with its zone; UTC and milliseconds on hover. */
import type { ReactNode } from 'react';
import { formatClock, formatRelative, formatTime } from '../../view/format.ts';
import { useNow } from '../data/now.ts';
import { settings, zoneOf } from '../data/settings.ts';
import { useStore } from '../data/store.ts';

export const useZone = (): string => zoneOf(useStore(settings));

/** ISO 8601 and the clock of the reader's zone to the millisecond. */
const exactly = (at: number, zone: string): string =>
  `${formatClock(at, { zone })} ${zone}, ${new Date(at).toISOString()}`;

export const Moment = ({
  at,
  ago = false,
}: {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** Says also how long ago it was. */
  readonly ago?: boolean;
}): ReactNode => {
  const zone = useZone();
  const now = useNow();
  return (
    <>
      <time dateTime={new Date(at).toISOString()} title={exactly(at, zone)}>
        {formatTime(at, { zone, now })}
      </time>
      {ago && <span className="caption ago">{formatRelative(at, now)}</span>}
    </>
  );
};
