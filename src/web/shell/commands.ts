/**
 * Everything that can be done here, once: with its words for the palette, its keys for the hand, and what it does.
 * Components say what they can do while they are there; the last one that says so has a key.
 */
import { useLayoutEffect, useRef } from 'react';
import { settings } from '../data/settings.ts';
import { storeOf, type Store } from '../data/store.ts';

export type Command = {
  /** As on a button: verb and object. */
  readonly label: string;
  /** "g s", "j", "Ctrl+k", "Escape". Letters do nothing in a field, nor where the reader switched them off. */
  readonly keys?: string;
  readonly run: () => void;
  /** Not in the palette: it is about the place where the hand is. */
  readonly quiet?: boolean;
};

export const commands: Store<readonly Command[]> = storeOf<readonly Command[]>([]);

/**
 * Offers these while the component is there. `list` may be another one at each rendering. A key does what the page shows
 * from the moment on that it shows it: an effect that waits until it was painted would leave a gap.
 */
export const useCommands = (list: readonly Command[]): void => {
  const latest = useRef(list);
  useLayoutEffect(() => {
    latest.current = list;
  });
  const names = list.map(({ label, keys = '', quiet = false }) => `${label}\t${keys}\t${quiet ? 'q' : ''}`);
  const signature = names.join('\n');
  useLayoutEffect(() => {
    const own = latest.current.map((command, at): Command => ({
      ...command,
      run: () => latest.current[at]?.run(),
    }));
    commands.set([...commands.get(), ...own]);
    return () => commands.set(commands.get().filter((command) => !own.includes(command)));
  }, [signature]);
};

/** How long the second key of a pair may take. */
const PAIR_MS = 1200;
let first: { readonly key: string; readonly at: number } | undefined;

export const listenToKeys = (): (() => void) => {
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
};

const onKey = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const isPlain = name.length === 1;
  if (isPlain && (isField(event.target) || !settings.get().singleKeys)) return;
  // A dialog has the keyboard for itself.
  if (document.querySelector('dialog[open]') && name !== 'Ctrl+k') return;
  const pair = first && event.timeStamp - first.at < PAIR_MS ? `${first.key} ${name}` : undefined;
  first = undefined;
  const found = keyed(pair) ?? keyed(name);
  if (found) {
    event.preventDefault();
    found.run();
  } else if (isPlain && commands.get().some(({ keys }) => keys?.startsWith(`${name} `) === true))
    first = { key: name, at: event.timeStamp };
};

const keyed = (keys: string | undefined): Command | undefined =>
  keys === undefined ? undefined : commands.get().findLast((command) => command.keys === keys);

const nameOf = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string =>
  `${ctrlKey || metaKey ? 'Ctrl+' : ''}${altKey ? 'Alt+' : ''}${key}`;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('input:not([type="range"]):not([type="radio"]), textarea, select'));

/** Keys as people read them. */
export const keyWords = (keys: string): readonly string[] =>
  keys.split(' ').map((key) => key.replace('Ctrl+', 'Ctrl ').replace('Escape', 'Esc'));
