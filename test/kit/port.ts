/** Ports for servers that have to be told one, and that come back at the same one after a crash. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems hand out by themselves: no connection and no `listen(0)` of anybody gets one of these. */
const [LOWEST, HIGHEST] = [20_000, 32_767] as const;
const TRIES_MAX = 200;

/**
 * A TCP port of 127.0.0.1 that nobody else is given before this process ends, whether a server listens at it or not:
 * a UDP socket of the same number claims it. Throws where there is none.
 */
export const freePort = async (): Promise<number> => {
  for (let i = 0; i < TRIES_MAX; i++) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if ((await isClaimed(port)) && (await isFree(port))) return port;
  }
  throw new Error(`none of ${TRIES_MAX} ports between ${LOWEST} and ${HIGHEST} is free on 127.0.0.1`);
};

const isClaimed = async (port: number): Promise<boolean> => {
  const claim = createSocket('udp4');
  const bound = once(claim, 'listening').then(
    () => true,
    () => false,
  );
  claim.bind({ port, address: '127.0.0.1', exclusive: true });
  const isOurs = await bound;
  if (isOurs) claim.unref();
  else claim.close();
  return isOurs;
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  const isHere = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  if (isHere) await once(server, 'close');
  return isHere;
};
