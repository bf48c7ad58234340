/** Leave for further calls as one line, and the button that takes it back. */
import { useState, type ReactNode } from 'react';
import type { GrantView } from '../../server/schemas.ts';
import { conditionWords } from '../../view/terms.ts';
import { door } from '../data/door.ts';
import { Moment } from './moment.tsx';
import { ProblemLine } from './states.tsx';
import { Revealed } from './text.tsx';

type Props = {
  readonly session: string;
  readonly grant: GrantView;
  /** The reader's name, who is called "you". */
  readonly me: string;
  /** Whether the tool is named: not where everything around is about it. */
  readonly named?: boolean;
};

/** Members that nothing may be added to say nothing of their own. */
const wordsOf = ({ when }: GrantView): string => {
  const told = when.filter((condition) => !('only' in condition)).map(conditionWords);
  return told.length === 0 ? 'whatever its arguments are' : `where ${told.join('; ')}`;
};

export const GrantLine = ({ session, grant, me, named = false }: Props): ReactNode => {
  const [state, setState] = useState<'stands' | 'going' | 'gone'>('stands');
  const [problem, setProblem] = useState<unknown>();
  const { call, tool, by, expiresAt } = grant;
  const take = (): void => {
    setState('going');
    setProblem(undefined);
    door.revoke(session, { call }).then(
      () => setState('gone'),
      (error: unknown) => {
        setState('stands');
        setProblem(error);
      },
    );
  };
  return (
    <>
      <span className="grant-line">
        <span>
          {named && (
            <>
              <code>{tool}</code>{' '}
            </>
          )}
          by <Revealed text={by.name === me ? 'you' : by.name} />, until <Moment at={expiresAt} />,{' '}
          <Revealed text={wordsOf(grant)} />
        </span>
        {state === 'gone' ? (
          <b role="status">taken back</b>
        ) : (
          <button
            className="button"
            type="button"
            aria-label={`Take back the grant of call ${call} for ${tool}`}
            aria-disabled={state === 'going'}
            onClick={() => state === 'stands' && take()}
          >
            Take back
          </button>
        )}
      </span>
      <ProblemLine problem={problem} />
    </>
  );
};
