/** Find or do anything: commands of this place, and sessions by their words. */
import { useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { SessionView } from '../../server/schemas.ts';
import type { Page } from '../../server/schemas.ts';
import { go } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { useStore } from '../data/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Revealed } from '../parts/text.tsx';
import { commands, keyWords } from './commands.ts';

type Offer = {
  readonly id: string;
  readonly label: string;
  readonly keys?: string;
  readonly caption?: string;
  readonly run: () => void;
};

const SESSIONS_SHOWN = 8;

export const Palette = ({ close }: { readonly close: () => void }): ReactNode => {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const offers = useOffers(words);
  const chosen = offers[Math.min(at, offers.length - 1)];
  const take = (offer: Offer | undefined): void => {
    if (!offer) return;
    close();
    offer.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((last) => Math.min(Math.max(0, last + step), offers.length - 1));
    else if (event.key === 'Enter') take(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find or do anything" close={close} className="palette">
      <input
        type="search"
        role="combobox"
        aria-label="Find or do anything"
        aria-expanded="true"
        aria-controls="offers"
        aria-activedescendant={chosen ? `offer-${chosen.id}` : undefined}
        placeholder="A session, a page, something to do"
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="offers" role="listbox" aria-label="Found">
        {offers.map((offer) => (
          <li
            key={offer.id}
            id={`offer-${offer.id}`}
            role="option"
            aria-selected={offer === chosen}
            onClick={() => take(offer)}
          >
            <span className="clip">
              <Revealed text={offer.label} />
            </span>
            {offer.caption !== undefined && <span className="caption clip">{offer.caption}</span>}
            {offer.keys !== undefined && (
              <span className="push nowrap">
                {keyWords(offer.keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
};

const useOffers = (words: string): readonly Offer[] => {
  const known = useStore(commands);
  const query = new URLSearchParams({ limit: String(SESSIONS_SHOWN), q: words });
  // What was found for other words is not offered: Enter would open it.
  const path = `/sessions?${query.toString()}`;
  const { data } = useQuery(path, (signal) => door.read<Page<SessionView>>(path, signal));
  return useMemo(() => {
    const wanted = words.toLowerCase();
    const fitting = known
      .filter(({ label, quiet = false }) => !quiet && label.toLowerCase().includes(wanted))
      .map(({ label, keys, run }, i): Offer => ({
        id: `do-${i}`,
        label,
        run,
        ...(keys !== undefined && { keys }),
      }));
    const sessions = (data?.items ?? []).map(({ session, title, agent }): Offer => ({
      id: session,
      label: title,
      caption: `${agent}, ${session}`,
      run: () => go(`/s/${encodeURIComponent(session)}`),
    }));
    return [...fitting, ...sessions];
  }, [known, words, data]);
};
