/**
 * Somebody else's service, reached over a real socket: it does what it is asked, knows keys, and can be asked what
 * it did. What it did is the world of an experiment, whatever any record says.
 */
import type { Gate } from './gate.ts';
import { Listener } from './listener.ts';

export type Deed = { readonly what: string; readonly key: string; readonly tag: string };

export type Arrival = Deed & {
  /** Whether it changed the world: not where the key was known, nor where nobody waited for it any more. */
  readonly did: boolean;
};

export type ServiceOptions = {
  /** Where requests are kept before, or after, the service does what they ask; absent: nowhere. */
  readonly holds?: (deed: Deed) => { readonly where: 'before' | 'after'; readonly gate: Gate } | undefined;
  /** Whether the same key a second time changes nothing more. */
  readonly knowsKeys: (deed: Deed) => boolean;
};

type World = {
  readonly requests: { did: boolean; what: string; key: string; tag: string }[];
  readonly deeds: Deed[];
};

export class Service {
  /** Every request that came, in order, whether it was answered or not. */
  readonly requests: readonly Arrival[];
  /** What it did. */
  readonly deeds: readonly Deed[];
  readonly #listener: Listener;

  private constructor(listener: Listener, world: World) {
    this.#listener = listener;
    this.requests = world.requests;
    this.deeds = world.deeds;
  }

  static async open({ holds, knowsKeys }: ServiceOptions): Promise<Service> {
    const world: World = { requests: [], deeds: [] };
    const listener = await Listener.open(async ({ path, body }, response) => {
      const deed = JSON.parse(body) as Deed;
      const known = world.deeds.some(({ what, key }) => what === deed.what && key === deed.key);
      if (path === '/asked') {
        response.end(JSON.stringify({ done: known }));
        return;
      }
      const arrival = { ...deed, did: false };
      world.requests.push(arrival);
      const held = holds?.(deed);
      if (held?.where === 'before' && (await held.gate.keep(response)) === 'gone') return;
      arrival.did = !(known && knowsKeys(deed));
      if (arrival.did) world.deeds.push(deed);
      if (held?.where === 'after' && (await held.gate.keep(response)) === 'gone') return;
      response.end(JSON.stringify({ did: arrival.did }));
    });
    return new Service(listener, world);
  }

  get url(): string {
    return this.#listener.url;
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}
