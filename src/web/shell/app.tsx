/** Whether somebody is signed in, and what stands here while nobody is. */
import { useEffect, useState, type ReactNode } from 'react';
import { DoorError } from '../../client/client.ts';
import { go } from '../data/address.ts';
import { signIn, whoAmI } from '../data/door.ts';
import { stayConnected } from '../data/live.ts';
import { Loading, ProblemNote } from '../parts/states.tsx';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in-page.tsx';

type Entry =
  | { readonly kind: 'asking' | 'in' }
  /** Nobody is signed in; `why` where an address was opened that should have done it. */
  | { readonly kind: 'out'; readonly why?: unknown }
  | { readonly kind: 'no-answer'; readonly why: unknown };

const SIGN_IN = '/sign-in';

export const App = (): ReactNode => {
  const [entry, setEntry] = useState<Entry>({ kind: 'asking' });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let isHere = true;
    void enter().then((found) => {
      if (isHere) setEntry(found);
    });
    return () => {
      isHere = false;
    };
  }, [asked]);
  useEffect(() => {
    if (entry.kind !== 'in') return undefined;
    const stop = new AbortController();
    void stayConnected(stop.signal, () => setEntry({ kind: 'out' }));
    return () => stop.abort();
  }, [entry.kind]);
  const done = (): void => {
    leaveSignIn();
    setEntry({ kind: 'in' });
  };
  switch (entry.kind) {
    case 'asking':
      return <Loading what="the page" />;
    case 'out':
      return <SignInPage first={entry.why} enter={done} />;
    case 'no-answer':
      return <ProblemNote problem={entry.why} again={() => setAsked((count) => count + 1)} />;
    default:
      return <Shell />;
  }
};

/** A ticket is used once: the first of two renderings takes it, and both see what came of it. */
let entering: Promise<Entry> | undefined;

const enter = (): Promise<Entry> => {
  entering ??= withTicket().finally(() => {
    entering = undefined;
  });
  return entering;
};

const withTicket = async (): Promise<Entry> => {
  const ticket = location.pathname === SIGN_IN ? location.hash.slice(1) : '';
  if (ticket === '') return known(undefined);
  // What is used up, or should have been, does not stay in the address.
  history.replaceState(null, '', SIGN_IN);
  try {
    await signIn({ ticket });
    leaveSignIn();
    return { kind: 'in' };
  } catch (error) {
    // Opened a second time in a browser that is in already.
    return known(error);
  }
};

const known = async (why: unknown): Promise<Entry> => {
  try {
    await whoAmI();
    leaveSignIn();
    return { kind: 'in' };
  } catch (error) {
    const refused = error instanceof DoorError && error.status === UNAUTHORIZED;
    return refused ? { kind: 'out', ...(why !== undefined && { why }) } : { kind: 'no-answer', why: error };
  }
};

const UNAUTHORIZED = 401;

const leaveSignIn = (): void => {
  if (location.pathname === SIGN_IN || location.pathname === '/') go('/sessions', { replace: true });
};
