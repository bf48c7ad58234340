/** A message to the session: what is written stays until it was taken, and one wish is one message however often it is sent. */
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { NewTurn } from '../../server/schemas.ts';
import type { StandingView } from '../../server/window-shapes.ts';
import { door } from '../data/door.ts';
import { connection } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { ProblemLine } from '../parts/states.tsx';
import { submitByKey } from '../parts/submit.ts';
import { announce } from '../shell/announcer.tsx';

type Way = Exclude<NonNullable<NewTurn['when']>, 'reject'>;

const WAYS: Readonly<Record<Way, (turn: number) => { readonly label: string; readonly button: string }>> = {
  queue: (turn) => ({ label: `Queue after turn ${turn}`, button: 'Queue message' }),
  steer: () => ({ label: 'Steer: join at the next step', button: 'Steer with message' }),
  interrupt: (turn) => ({
    label: `Interrupt: cancel turn ${turn}, then run`,
    button: 'Interrupt with message',
  }),
};

export const Composer = ({
  session,
  standing,
}: {
  readonly session: string;
  readonly standing: StandingView;
}): ReactNode => {
  const [text, setText] = useState('');
  const [way, setWay] = useState<Way>('queue');
  const [problem, setProblem] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const isOffline = useStore(connection).kind === 'offline';
  const key = useRef(crypto.randomUUID());
  const running = standing.turn?.isActive === true ? standing.turn.turn : undefined;
  const cannot = text.trim() === '' || isSending || isOffline;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (cannot) return;
    setSending(true);
    const when = running === undefined ? {} : { when: way };
    door.send(session, { message: text, ...when }, { key: key.current }).then(
      () => {
        key.current = crypto.randomUUID();
        // What was written meanwhile is another message.
        setText((now) => (now === text ? '' : now));
        setProblem(undefined);
        setSending(false);
        announce('The message is accepted.');
      },
      (error: unknown) => {
        setProblem(error);
        setSending(false);
      },
    );
  };
  return (
    <form className="composer" onSubmit={send}>
      <ProblemLine problem={problem} />
      <label>
        <span className="unseen">Message</span>
        <textarea
          id="message"
          rows={2}
          placeholder={`Write to ${standing.session.agent}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={submitByKey}
        />
      </label>
      <div className="line">
        {running !== undefined && (
          <select
            aria-label="While a turn is open"
            value={way}
            onChange={(event) => setWay(event.target.value as Way)}
          >
            {(Object.keys(WAYS) as Way[]).map((one) => (
              <option key={one} value={one}>
                {WAYS[one](running).label}
              </option>
            ))}
          </select>
        )}
        <button className="button primary push" type="submit" title="Control Enter" aria-disabled={cannot}>
          {running === undefined ? 'Send message' : WAYS[way](running).button}
        </button>
      </div>
    </form>
  );
};
