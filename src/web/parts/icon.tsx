/** The icons: drawn on 16 by 16, in the colour of the text beside them. A word always stands beside them. */
import type { ReactNode } from 'react';

export type IconName =
  | 'run'
  | 'wait'
  | 'doubt'
  | 'done'
  | 'fail'
  | 'stop'
  | 'queue'
  | 'idle'
  | 'left'
  | 'right'
  | 'down'
  | 'search'
  | 'theme'
  | 'list'
  | 'inbox'
  | 'coin'
  | 'suite'
  | 'fork'
  | 'copy'
  | 'warn'
  | 'info'
  | 'edit'
  | 'cut'
  | 'arrow';

const DRAWN: Readonly<Record<IconName, ReactNode>> = {
  run: (
    <>
      <path d="M8 2.2a5.8 5.8 0 1 1-5.8 5.8" className="turning" />
      <circle cx="8" cy="8" r="1.6" fill="currentColor" stroke="none" />
    </>
  ),
  wait: (
    <>
      <circle cx="8" cy="5" r="2.6" />
      <path d="M2.8 14c.5-3 2.6-4.6 5.2-4.6s4.7 1.6 5.2 4.6" />
    </>
  ),
  doubt: (
    <>
      <circle cx="8" cy="8" r="6.2" strokeDasharray="2.6 2.1" />
      <path d="M6.2 6.4c0-1 .8-1.7 1.8-1.7s1.8.7 1.8 1.6c0 1.2-1.8 1.3-1.8 2.5M8 11.2v.01" />
    </>
  ),
  done: <path d="m3 8.6 3.3 3.4L13 4.6" />,
  fail: <path d="m4 4 8 8M12 4l-8 8" />,
  stop: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m4 12 8-8" />
    </>
  ),
  queue: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.8V8l2.2 1.6" />
    </>
  ),
  idle: <circle cx="8" cy="8" r="5.5" />,
  left: <path d="m10 3-5 5 5 5" />,
  right: <path d="m6 3 5 5-5 5" />,
  down: <path d="m3 6 5 5 5-5" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3.5 3.5" />
    </>
  ),
  theme: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 2.2a5.8 5.8 0 0 1 0 11.6z" fill="currentColor" />
    </>
  ),
  list: <path d="M3 4h10M3 8h10M3 12h10" />,
  inbox: <path d="M2 9 4 3h8l2 6v4H2zM2 9h3.5l1 2h3l1-2H14" />,
  coin: <path d="M3 13V8M8 13V3M13 13V6" />,
  suite: <path d="m2.5 4.5 1.5 1.5L6.5 3M2.5 11l1.5 1.5L6.5 9.5M9 5h5M9 11.5h5" />,
  fork: (
    <>
      <circle cx="4" cy="3.5" r="1.7" />
      <circle cx="4" cy="12.5" r="1.7" />
      <circle cx="12" cy="5.5" r="1.7" />
      <path d="M4 5.2v5.6M12 7.2c0 2.6-8 1.4-8 3.6" />
    </>
  ),
  copy: (
    <>
      <rect x="5" y="5" width="8" height="8" rx="1.5" />
      <path d="M3 10.5V4.2C3 3.5 3.5 3 4.2 3h6.3" />
    </>
  ),
  warn: <path d="M8 2.5 14.3 13.5H1.7zM8 6.5v3.2M8 11.7v.01" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 7.3v3.5M8 5.2v.01" />
    </>
  ),
  edit: <path d="m3 13 .6-2.8 7.6-7.6 2.2 2.2-7.6 7.6z" />,
  cut: <path d="M4 2v12M8 4h5M8 8h5M8 12h5" />,
  arrow: <path d="M3 8h10M9 4l4 4-4 4" />,
};

export const Icon = ({
  name,
  small = false,
}: {
  readonly name: IconName;
  readonly small?: boolean;
}): ReactNode => (
  <svg className={small ? 'icon small' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
    {DRAWN[name]}
  </svg>
);
