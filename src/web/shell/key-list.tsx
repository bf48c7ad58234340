/** All keys that do something here and now. */
import type { ReactNode } from 'react';
import { settings } from '../data/settings.ts';
import { useStore } from '../data/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { commands, keyWords } from './commands.ts';

export const KeyList = ({ close }: { readonly close: () => void }): ReactNode => {
  const known = useStore(commands);
  const { singleKeys } = useStore(settings);
  const byKeys = new Map(
    known.flatMap(({ keys, label }) => (keys === undefined ? [] : [[keys, label] as const])),
  );
  return (
    <Dialog title="Keys" close={close}>
      <div className="inside">
        {!singleKeys && <p className="support">Single letters are switched off in the settings.</p>}
        <dl className="keys">
          {[...byKeys].map(([keys, label]) => (
            <div key={keys} className="contents">
              <dt>
                {keyWords(keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
        <p className="ends">
          <button className="button" type="button" onClick={close}>
            Close
          </button>
        </p>
      </div>
    </Dialog>
  );
};
