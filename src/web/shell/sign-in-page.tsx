/** The way in: the address that the server printed, or a token. */
import { useState, type FormEvent, type ReactNode } from 'react';
import { signIn } from '../data/door.ts';
import { problemWords } from '../parts/states.tsx';

export const SignInPage = ({
  first,
  enter,
}: {
  /** Why the address that was opened did not sign in, if one was. */
  readonly first: unknown;
  readonly enter: () => void;
}): ReactNode => {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<unknown>(first);
  const [isSending, setSending] = useState(false);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setSending(true);
    signIn({ token: token.trim() }).then(
      () => enter(),
      (error: unknown) => {
        setSending(false);
        setProblem(error);
      },
    );
  };
  const said = problem === undefined ? undefined : problemWords(problem);
  return (
    <main id="main" className="page narrow sign-in">
      <h1>Sign in to Onrecord</h1>
      <p>
        Open the address that <code>onrecord serve</code> printed: it signs one browser in. Or paste a token;
        on the machine of the server yours is in the file <code>.onrecord/token</code>.
      </p>
      <form className="sheet block" onSubmit={send}>
        <label className="field">
          <span>Token</span>
          <input
            type="password"
            name="token"
            autoComplete="off"
            value={token}
            aria-invalid={said !== undefined}
            aria-describedby="sign-in-problem"
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p id="sign-in-problem" className="message fail" role="alert">
          {said && `${said.text} (${said.code})`}
        </p>
        <button className="button primary" type="submit" aria-disabled={isSending || token.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  );
};
