/** Light, dark, or as the system has it: one button that goes round. */
import type { ReactNode } from 'react';
import { change, settings, type Theme } from '../data/settings.ts';
import { useStore } from '../data/store.ts';
import { Icon } from '../parts/icon.tsx';
import { useCommands } from './commands.ts';

export const THEME_WORDS: Readonly<Record<Theme, string>> = {
  system: 'as the system',
  light: 'light',
  dark: 'dark',
};

const AFTER: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

export const ThemeButton = (): ReactNode => {
  const { theme } = useStore(settings);
  useCommands(
    (['system', 'light', 'dark'] as const).map((one) => ({
      label: `Theme: ${THEME_WORDS[one]}`,
      run: () => change({ theme: one }),
    })),
  );
  return (
    <button
      className="button quiet"
      type="button"
      title={`Theme: ${THEME_WORDS[theme]}`}
      aria-label={`Theme: ${THEME_WORDS[theme]}`}
      onClick={() => change({ theme: AFTER[theme] })}
    >
      <Icon name="theme" />
    </button>
  );
};
