/** One session in four readings over one selection: the conversation, the record, the request, the work still open. */
import { useCallback, useRef, type ReactNode } from 'react';
import type { StandingView } from '../../server/window-shapes.ts';
import { DoorError } from '../../client/client.ts';
import '../style/session.css';
import { setQuery } from '../data/address.ts';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import type { PageProps } from '../pages.ts';
import { useCommands } from '../shell/commands.ts';
import { Composer } from './composer.tsx';
import type { Geometry } from './layout.ts';
import { READINGS, select, travel, usePlace, type ReadingName, type SessionPlace } from './place.ts';
import { RecordPane } from './record-pane.tsx';
import { RequestPane } from './request-pane.tsx';
import { useSessionData } from './session-data.ts';
import { SessionHead } from './session-head.tsx';
import { TalkPane } from './talk-pane.tsx';
import { TravelBar } from './travel-bar.tsx';
import { WorkDock } from './work-dock.tsx';
import { useRequestOf } from './selection.ts';

const SessionPage = ({ id }: PageProps): ReactNode => {
  const place = usePlace();
  const { geometry, standing, problem, again, saying } = useSessionData(id, place.at);
  if (problem instanceof DoorError && problem.code === 'session-not-found') return <NotThere session={id} />;
  if (!geometry || !standing)
    return (
      <main id="main" className="page">
        {problem === undefined ? (
          <Loading what="the session" />
        ) : (
          <ProblemNote problem={problem} again={again} />
        )}
      </main>
    );
  return <Readings session={id} geometry={geometry} standing={standing} place={place} saying={saying} />;
};

export default SessionPage;

const NotThere = ({ session }: { readonly session: string }): ReactNode => (
  <main id="main" className="page">
    <Empty title="No such session">
      <p>
        No session is called <code>{session}</code> in this store.{' '}
        <Link to="/sessions">Go to the sessions</Link>
      </p>
    </Empty>
  </main>
);

type Props = {
  readonly session: string;
  readonly geometry: Geometry;
  readonly standing: StandingView;
  readonly place: SessionPlace;
  readonly saying: string;
};

const LABELS: Readonly<Record<ReadingName, string>> = {
  conv: 'Conversation',
  rec: 'Record',
  req: 'Request',
  work: 'Open',
};

const Readings = ({ session, geometry, standing, place, saying }: Props): ReactNode => {
  const at = Math.min(place.at ?? geometry.head, geometry.head);
  const isPast = at < geometry.head;
  const selected = place.selected !== undefined && place.selected <= at ? place.selected : undefined;
  const choose = useCallback((seq: number) => select(seq), []);
  const request = useRequestOf(session, selected ?? at, { at, isPast, last: standing.request });
  const frame = useRef<HTMLElement>(null);
  useReadingKeys(frame);
  const shared = { session, at, isPast, selected, choose, geometry };
  return (
    <main id="main" ref={frame} className={`session${isPast ? ' is-past' : ''}`} data-first={place.open[0]}>
      <SessionHead session={session} standing={standing} isPast={isPast} />
      <TravelBar geometry={geometry} at={at} isPast={isPast} standing={standing} />
      {isPast && <PastBand at={at} />}
      <PhoneTabs open={place.open[0] ?? 'conv'} work={standing.work.length} />
      <div className="panes">
        <section className="pane conv" aria-label="Conversation">
          <div className="pane-title">
            <h2>Conversation</h2>
            <span className="caption clip">as a person reads it</span>
            <kbd className="push">1</kbd>
          </div>
          <TalkPane {...shared} agent={standing.session.agent} saying={saying} />
          {!isPast && <Composer session={session} standing={standing} />}
        </section>
        <section className="pane rec" aria-label="Record">
          <div className="pane-title">
            <h2>Record</h2>
            <span className="caption clip">
              {isPast ? `${at} of ${geometry.head} events` : `${geometry.head} events`}
            </span>
            <Legend />
            <kbd>2</kbd>
          </div>
          <RecordPane {...shared} />
        </section>
        <section className="pane req" aria-label="Request">
          <RequestPane
            session={session}
            number={place.request ?? request}
            last={standing.request}
            isPast={isPast}
            tab={place.tab}
            selected={selected}
            head={geometry.head}
          />
        </section>
      </div>
      <WorkDock session={session} standing={standing} isPast={isPast} selected={selected} choose={choose} />
    </main>
  );
};

const Legend = (): ReactNode => (
  <span className="caption legend push">
    <i className="filled" />
    fact <i />
    decision
  </span>
);

const PastBand = ({ at }: { readonly at: number }): ReactNode => (
  <div className="past" role="status">
    <Icon name="queue" />
    <span>
      You are reading the session as it was at <b>{at}</b>. Nothing here can be decided or sent.
    </span>
    <button className="button primary push" type="button" onClick={() => travel(undefined)}>
      Back to live
    </button>
  </div>
);

const PhoneTabs = ({ open, work }: { readonly open: ReadingName; readonly work: number }): ReactNode => (
  <div className="phone-tabs" role="group" aria-label="Readings">
    {READINGS.map((name) => (
      <button
        key={name}
        type="button"
        aria-pressed={name === open}
        onClick={() => setQuery({ view: name === 'conv' ? undefined : name })}
      >
        {LABELS[name]} {name === 'work' && work > 0 && <span className="count">{work}</span>}
      </button>
    ))}
  </div>
);

/** 1 to 4 bring a reading to the hand; where only one is shown, that one. */
const useReadingKeys = (frame: React.RefObject<HTMLElement | null>): void => {
  const open = (name: ReadingName): void => {
    setQuery({ view: name });
    const pane = frame.current?.querySelector(name === 'work' ? '.dock' : `.pane.${name}`);
    const target = pane?.querySelector<HTMLElement>('.scroll, button');
    // Panes that were hidden can take the focus once they are there.
    requestAnimationFrame(() => target?.focus());
  };
  useCommands(
    READINGS.map((name, i) => ({
      label: `Go to the ${name === 'work' ? 'open work' : LABELS[name].toLowerCase()}`,
      keys: String(i + 1),
      run: () => open(name),
    })),
  );
};
