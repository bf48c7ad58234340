/** A place of its own on a Restate server: an object's name, and one address for all workers that stand behind it. */
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { RestateDispatcher, type RestateOptions } from '../../src/worker/restate-dispatcher.ts';
import { Balancer } from './balancer.ts';
import { freePort } from './port.ts';
import type { RestateCluster } from './restate-server.ts';

export type RestatePlace = {
  open(more?: Partial<RestateOptions>): Promise<RestateDispatcher>;
  session(name: string): Promise<string>;
  readonly service: string;
};

export const restatePlace = async (cluster: RestateCluster): Promise<RestatePlace> => {
  const service = `Session-${randomUUID()}`;
  const balancer = await Balancer.open();
  onTestFinished(() => balancer.close());
  let opened = 0;
  const open: RestatePlace['open'] = async (more = {}) => {
    const port = await freePort();
    balancer.add(port);
    // Each process asks another node first.
    const { length } = cluster.nodes;
    const nodes = cluster.nodes.map((_, i) => cluster.node((opened + i) % length));
    opened++;
    return new RestateDispatcher({
      ingress: nodes.map((node) => node.ingress),
      register: { admin: cluster.alive.admin, as: balancer.url },
      listen: { port },
      service,
      ...more,
    });
  };
  // As an operator does it once: the object is known before anybody wakes a session.
  const first = await open();
  await first.start({ take: async () => ({ kind: 'nothing' }), room: () => 0 });
  await first.stop();
  return { open, session: async (name) => name, service };
};
