/** Begins a session with its first message. */
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import type { Page } from '../../server/schemas.ts';
import { go } from '../data/address.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Dialog } from '../parts/dialog.tsx';
import { submitByKey } from '../parts/submit.ts';
import { ProblemLine } from '../parts/states.tsx';
import { sessionPath } from './session-table.tsx';

type AgentRow = { readonly name: string; readonly description: string };

type Props = {
  readonly close: () => void;
  /** Known until the server has said which there are. */
  readonly agents: readonly string[];
};

export const NewSession = ({ close, agents: known }: Props): ReactNode => {
  const { data } = useQuery('/agents', (signal) => door.read<Page<AgentRow>>('/agents', signal));
  const agents: readonly AgentRow[] = data?.items ?? known.map((name) => ({ name, description: '' }));
  const [agent, setAgent] = useState('');
  const [message, setMessage] = useState('');
  const [problem, setProblem] = useState<unknown>();
  // One name for this wish: sent again after a lost answer it is the same session.
  const key = useRef(crypto.randomUUID());
  const chosen = agent === '' ? (agents[0]?.name ?? '') : agent;
  const cannot = message.trim() === '' || chosen === '';
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (cannot) return;
    door.createSession({ agent: chosen, message }, { key: key.current }).then(({ session }) => {
      close();
      go(sessionPath(session));
    }, setProblem);
  };
  return (
    <Dialog title="New session" close={close}>
      <form onSubmit={send}>
        <AgentField agents={agents} chosen={chosen} choose={setAgent} />
        <label className="field">
          <span>Message</span>
          <textarea
            rows={4}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={submitByKey}
          />
        </label>
        <ProblemLine problem={problem} />
        <p className="ends">
          <button className="button primary" type="submit" aria-disabled={cannot}>
            Start the session
          </button>
          <button className="button quiet" type="button" onClick={close}>
            Close
          </button>
        </p>
      </form>
    </Dialog>
  );
};

type AgentFieldProps = {
  readonly agents: readonly AgentRow[];
  readonly chosen: string;
  readonly choose: (name: string) => void;
};

const AgentField = ({ agents, chosen, choose }: AgentFieldProps): ReactNode => (
  <>
    <label className="field">
      <span>Agent</span>
      <select value={chosen} onChange={(event) => choose(event.target.value)}>
        {agents.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <p className="caption under-field">{agents.find(({ name }) => name === chosen)?.description}</p>
  </>
);
