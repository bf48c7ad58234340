/** What stands around every page: where one can go, whether the server is there, the palette and the list of keys. */
import { Suspense, useEffect, useState, type ReactNode } from 'react';
import type { Overview } from '../../server/reports.ts';
import { go, useAddress } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useChanges } from '../data/live.ts';
import { useQuery } from '../data/query.ts';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { PAGES, pageAt, type Found } from '../pages.ts';
import { Announcer, announce } from './announcer.tsx';
import { useCommands, type Command } from './commands.ts';
import { ConnectionBanner, LiveSign } from './connection.tsx';
import { KeyList } from './key-list.tsx';
import { Palette } from './palette.tsx';
import { ThemeButton } from './theme-button.tsx';

export const Shell = (): ReactNode => {
  const { path } = useAddress();
  const found = pageAt(path);
  const [over, setOver] = useState<'palette' | 'keys'>();
  const close = (): void => setOver(undefined);
  useCommands([
    { label: 'Find or do anything', keys: 'Ctrl+k', run: () => setOver('palette'), quiet: true },
    { label: 'Show all keys', keys: '?', run: () => setOver('keys') },
    ...navigation(),
  ]);
  useEffect(() => {
    document.title = found ? `${found.entry.title} · Onrecord` : 'Onrecord';
  }, [found?.entry]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <TopBar path={path} find={() => setOver('palette')} />
      <ConnectionBanner />
      <Suspense fallback={<Loading what="the page" />}>
        <Content found={found} path={path} />
      </Suspense>
      <Announcer />
      {over === 'palette' && <Palette close={close} />}
      {over === 'keys' && <KeyList close={close} />}
    </>
  );
};

const navigation = (): readonly Command[] => [
  ...PAGES.flatMap(({ path, nav }): readonly Command[] =>
    nav ? [{ label: `Go to ${nav.label}`, keys: `g ${nav.key}`, run: () => go(path) }] : [],
  ),
  { label: 'Go to Settings', run: () => go('/settings') },
];

const Content = ({
  found,
  path,
}: {
  readonly found: Found | undefined;
  readonly path: string;
}): ReactNode => {
  if (!found)
    return (
      <main id="main" className="page">
        <Empty title="There is no page at this address">
          <p>
            Nothing stands at <code>{path}</code>. <Link to="/sessions">Go to the sessions</Link>
          </p>
        </Empty>
      </main>
    );
  const { page: Page } = found.entry;
  return <Page key={`${found.entry.path} ${found.id}`} id={found.id} />;
};

const TopBar = ({ path, find }: { readonly path: string; readonly find: () => void }): ReactNode => (
  <header className="top">
    <Link className="brand" to="/sessions">
      <svg viewBox="0 0 18 18" aria-hidden="true">
        <path d="M9 0v18" stroke="currentColor" strokeWidth="1.5" />
        <circle cx="9" cy="9" r="4.5" fill="currentColor" />
      </svg>
      Onrecord
    </Link>
    <nav className="main-nav" aria-label="Main">
      {PAGES.map(({ path: to, nav }) =>
        nav ? (
          <Link key={to} to={to} aria-current={isIn(path, to) ? 'page' : undefined}>
            <Icon name={nav.icon} />
            {nav.label}
            {nav.icon === 'inbox' && <WaitingCount />}
          </Link>
        ) : null,
      )}
    </nav>
    <button className="find" type="button" onClick={find}>
      <Icon name="search" />
      <span>Find or do anything</span>
      <kbd aria-hidden="true">Ctrl K</kbd>
    </button>
    <LiveSign />
    <ThemeButton />
  </header>
);

/** A session belongs to the list of sessions, a run to the list of runs. */
const isIn = (path: string, to: string): boolean =>
  path === to || path.startsWith(`${to}/`) || (to === '/sessions' && path.startsWith('/s/'));

export const useOverview = (): Overview | undefined => {
  const { data, again } = useQuery('/overview', (signal) => door.read<Overview>('/overview', signal));
  useChanges(again);
  return data;
};

const WaitingCount = (): ReactNode => {
  const overview = useOverview();
  const count = overview ? overview.waiting + overview.inDoubt : 0;
  const [told, setTold] = useState<number>();
  useEffect(() => {
    if (!overview) return;
    if (told !== undefined && count > told)
      announce(`${count - told} new ${count - told === 1 ? 'thing waits' : 'things wait'} for a person.`);
    setTold(count);
  }, [overview, count, told]);
  if (count === 0) return null;
  return (
    <span className="count">
      {count}
      <span className="unseen"> waiting</span>
    </span>
  );
};
