/** The door, as this page asks it: the cookie says who, the forgery token goes with every change. */
import { OnrecordClient } from '../../client/client.ts';
import type { Me, NewLogin } from '../../server/reports.ts';

/** A page shows after a few attempts that no answer comes, and goes on trying where the reader wants it. */
const ATTEMPTS = 3;

let forgeryToken: string | undefined;

export const door: OnrecordClient = new OnrecordClient({
  url: location.origin,
  attempts: ATTEMPTS,
  forgeryToken: () => forgeryToken,
});

/** Throws `DoorError`: `token-missing` where nobody has signed in. */
export const whoAmI = async (): Promise<Me> => signedIn(await door.me());

export const signIn = async (login: NewLogin): Promise<Me> => signedIn(await door.signIn(login));

export const signOut = async (): Promise<void> => {
  await door.signOut();
  forgeryToken = undefined;
};

const signedIn = (me: Me): Me => {
  forgeryToken = me.forgeryToken;
  return me;
};
