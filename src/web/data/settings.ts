/** What a reader sets for this browser. Kept here and nowhere else. */
import { isZone } from '../../view/format.ts';
import { storeOf, type Store } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';

export type Settings = {
  readonly theme: Theme;
  /** IANA name; empty: that of the system. */
  readonly zone: string;
  /** Whether single letters do something; those who speak to their browser switch it off (WCAG 2.1.4). */
  readonly singleKeys: boolean;
};

const KEY = 'onrecord.settings';
const DEFAULTS: Settings = { theme: 'system', zone: '', singleKeys: true };

const read = (): Settings => {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    return {
      theme: found.theme === 'light' || found.theme === 'dark' ? found.theme : 'system',
      zone: typeof found.zone === 'string' && isZone(found.zone) ? found.zone : '',
      singleKeys: found.singleKeys !== false,
    };
  } catch {
    // Without storage, or with something else in it: as if nothing had been set.
    return DEFAULTS;
  }
};

export const settings: Store<Settings> = storeOf(read());

export const change = (changes: Partial<Settings>): void => {
  const next = { ...settings.get(), ...changes };
  settings.set(next);
  apply(next);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // It holds until the page is closed.
  }
};

const apply = ({ theme }: Settings): void => {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
};

export const zoneOf = ({ zone }: Settings): string =>
  zone === '' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
