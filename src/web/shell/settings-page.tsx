/** What a reader sets for this browser, and who they are to the server. */
import { useState, type ReactNode } from 'react';
import { isZone } from '../../view/format.ts';
import { signOut, whoAmI } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { change, settings, zoneOf, type Theme } from '../data/settings.ts';
import { useStore } from '../data/store.ts';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/states.tsx';
import { THEME_WORDS } from './theme-button.tsx';

const SettingsPage = (): ReactNode => (
  <main id="main" className="page narrow">
    <div className="page-head">
      <div>
        <h1>Settings</h1>
        <p>For this browser; the record knows nothing of them.</p>
      </div>
    </div>
    <section className="sheet block" aria-labelledby="look">
      <h2 id="look">Look and time</h2>
      <ThemeField />
      <ZoneField />
    </section>
    <section className="sheet block" aria-labelledby="keys">
      <h2 id="keys">Keyboard</h2>
      <KeysField />
    </section>
    <section className="sheet block" aria-labelledby="who">
      <h2 id="who">Who you are here</h2>
      <Identity />
    </section>
  </main>
);

export default SettingsPage;

const ThemeField = (): ReactNode => {
  const { theme } = useStore(settings);
  return (
    <label className="field">
      <span>Theme</span>
      <select value={theme} onChange={(event) => change({ theme: event.target.value as Theme })}>
        {(['system', 'light', 'dark'] as const).map((one) => (
          <option key={one} value={one}>
            {THEME_WORDS[one]}
          </option>
        ))}
      </select>
    </label>
  );
};

const ZoneField = (): ReactNode => {
  const current = useStore(settings);
  const [text, setText] = useState(current.zone);
  const bad = text !== '' && !isZone(text);
  return (
    <>
      <label className="field">
        <span>Time zone of all times shown; empty: that of this system</span>
        <input
          type="text"
          value={text}
          placeholder={zoneOf({ ...current, zone: '' })}
          aria-invalid={bad}
          aria-describedby="zone-now"
          onChange={({ target: { value } }) => {
            setText(value);
            if (value === '' || isZone(value)) change({ zone: value });
          }}
        />
      </label>
      <p className="caption" id="zone-now" aria-live="polite">
        {bad ? (
          `"${text}" is no zone that this browser knows. Write it as in Europe/Vienna.`
        ) : (
          <>
            Now it is <Moment at={Date.now()} />.
          </>
        )}
      </p>
    </>
  );
};

const KeysField = (): ReactNode => {
  const { singleKeys } = useStore(settings);
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={singleKeys}
        onChange={(event) => change({ singleKeys: event.target.checked })}
      />
      <span>
        Single letters do something. Switch them off if you speak to your browser: every action has a button
        and stands in the palette, too.
      </span>
    </label>
  );
};

const Identity = (): ReactNode => {
  const { data, problem, again } = useQuery('/me', whoAmI);
  if (problem !== undefined) return <ProblemNote problem={problem} again={again} />;
  if (!data) return null;
  return (
    <>
      <dl className="facts">
        <dt>Name</dt>
        <dd>{data.name}</dd>
        <dt>May</dt>
        <dd>{data.roles.join(', ')}</dd>
        <dt>Token</dt>
        <dd>
          <code>{data.token}</code>
        </dd>
        {data.tenant !== undefined && (
          <>
            <dt>Tenant</dt>
            <dd>{data.tenant}</dd>
          </>
        )}
      </dl>
      <button
        className="button"
        type="button"
        onClick={() => void signOut().then(() => location.assign('/sign-in'))}
      >
        Sign out of this browser
      </button>
    </>
  );
};
