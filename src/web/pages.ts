/** Which page stands at which address. A page is loaded when somebody goes there. */
import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { IconName } from './parts/icon.tsx';

export type PageProps = {
  /** The part of the path that names one of many: a session. */
  readonly id: string;
};

type PageComponent = LazyExoticComponent<ComponentType<PageProps>>;

export type PageEntry = {
  /** `:id` stands for the part that names one of many. */
  readonly path: string;
  /** As the tab of the browser says it. */
  readonly title: string;
  readonly page: PageComponent;
  /** Where it stands in the navigation, if it does, and the second key after `g`. */
  readonly nav?: { readonly label: string; readonly icon: IconName; readonly key: string };
};

export const PAGES: readonly PageEntry[] = [
  {
    path: '/sessions',
    title: 'Sessions',
    page: lazy(() => import('./sessions/sessions-page.tsx')),
    nav: { label: 'Sessions', icon: 'list', key: 's' },
  },
  {
    path: '/s/:id',
    title: 'Session',
    page: lazy(() => import('./session/session-page.tsx')),
  },
  {
    path: '/inbox',
    title: 'Inbox',
    page: lazy(() => import('./inbox/inbox-page.tsx')),
    nav: { label: 'Inbox', icon: 'inbox', key: 'i' },
  },
  {
    path: '/spend',
    title: 'Spend',
    page: lazy(() => import('./spend/spend-page.tsx')),
    nav: { label: 'Spend', icon: 'coin', key: 'p' },
  },
  {
    path: '/suites',
    title: 'Suites',
    page: lazy(() => import('./suites/suites-page.tsx')),
    nav: { label: 'Suites', icon: 'suite', key: 'u' },
  },
  {
    path: '/suites/:id',
    title: 'Suite',
    page: lazy(() => import('./suites/suite-page.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    page: lazy(() => import('./shell/settings-page.tsx')),
  },
];

export type Found = { readonly entry: PageEntry; readonly id: string };

export const pageAt = (path: string): Found | undefined => {
  for (const entry of PAGES) {
    const id = idIn(entry.path, path);
    if (id !== undefined) return { entry, id };
  }
  return undefined;
};

/** Empty where the pattern names nothing; undefined where the path is another one. */
const idIn = (pattern: string, path: string): string | undefined => {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  let id = '';
  for (const [at, part] of wanted.entries()) {
    const there = given[at] ?? '';
    if (part === ':id' && there !== '') id = decodeURIComponent(there);
    else if (part !== there) return undefined;
  }
  return id;
};
