/**
 * Who may come through the door: tokens, kept as digests in a log of their own. A token has 256 random bits, so its
 * digest needs no salt and is looked up directly. What a token may do are its roles; the four of the door are below,
 * any other is a role that policies can name (`role:finance`).
 */
import { randomId, type Clock, type Random } from '../clock.ts';
import { badInput } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { Actor } from '../event/content.ts';
import type { EventData, NewFact } from '../event/events.ts';
import { open } from '../event/envelope.ts';
import { ConflictError, type LogStore } from '../log/store.ts';
import { Batch, LiveSession } from '../worker/live-session.ts';

/** The log that holds tokens. It has no agent and stands in no list of sessions. */
export const TOKEN_LOG = 'tokens';

/** What the door itself asks for. `submit`: sessions and turns; `read`; `approve`: decide and settle; `operate`: modes, tokens. */
export const DOOR_ROLES = ['submit', 'read', 'approve', 'operate'] as const;
export type DoorRole = (typeof DOOR_ROLES)[number];

const TOKEN_BYTES = 32;
const TOKEN_PREFIX = 'onr_';
const TOKEN_ID_LENGTH = 8;
const NAME = /^[^\u0000-\u001F\u007F]{1,100}$/u;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const ROLE = /^[a-z][a-z0-9-]{0,63}$/;

export type Caller = {
  readonly actor: Actor;
  readonly roles: ReadonlySet<string>;
  /** Empty: not bound to one. */
  readonly tenant: string;
  readonly token: string;
};

type Added = EventData['token.added'];
export type TokenRow = Omit<Added, 'hash' | 'by'>;

export type NewToken = {
  readonly name: string;
  readonly kind?: 'person' | 'program';
  readonly roles: readonly string[];
  readonly tenant?: string;
  /** Wall time, milliseconds since 1970 UTC. */
  readonly expiresAt?: number;
};

/** How old the list may be where another process may have changed it. */
const FRESH_MS = 1000;

export class Tokens {
  readonly #store: LogStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byHash = new Map<Digest, Added>();
  readonly #byId = new Map<string, Added>();
  #head = 0;
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(store: LogStore, clock: Clock, random: Random) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  /** Whoever this token belongs to; undefined where it is not known, has run out or was revoked. */
  async caller(token: string): Promise<Caller | undefined> {
    await this.#refresh();
    const found = this.#byHash.get(sha256(token));
    if (!found || this.#isOver(found)) return undefined;
    const { id, name, kind, roles, tenant = '' } = found;
    // What the door asks for is no role that a policy could mean.
    const named = roles.filter((role) => !(DOOR_ROLES as readonly string[]).includes(role));
    const actor = { kind, name, ...(named.length > 0 && { roles: named }) };
    return { actor, roles: new Set(roles), tenant, token: id };
  }

  /** Whether the token of this id still lets somebody in. */
  async stands(id: string): Promise<boolean> {
    await this.#refresh();
    const found = this.#byId.get(id);
    return found !== undefined && !this.#isOver(found);
  }

  #isOver({ expiresAt }: Added): boolean {
    return expiresAt !== undefined && expiresAt <= this.#clock.now();
  }

  /** Makes a token. What is returned is said once and kept nowhere. Throws `token-invalid`. */
  async add(token: NewToken, by: Actor): Promise<{ readonly id: string; readonly token: string }> {
    const secret = TOKEN_PREFIX + Buffer.from(this.#random.bytes(TOKEN_BYTES)).toString('base64url');
    const id = `t_${randomId(this.#random, TOKEN_ID_LENGTH)}`;
    const { name, kind = 'person', roles, tenant, expiresAt } = checked(token);
    const data: Added = {
      id,
      name,
      kind,
      hash: sha256(secret),
      roles: [...new Set(roles)].sort(),
      by,
      ...(tenant !== undefined && { tenant }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    await this.#append({ type: 'token.added', data });
    return { id, token: secret };
  }

  /** Throws `token-not-found`. */
  async revoke(id: string, by: Actor): Promise<void> {
    if (!(await this.list()).some((row) => row.id === id))
      throw badInput('token-not-found', `There is no token ${id}.`, { id }, 'onrecord tokens');
    await this.#append({ type: 'token.revoked', data: { id, by } });
  }

  async list(): Promise<readonly TokenRow[]> {
    await this.#refresh(true);
    return [...this.#byHash.values()].map(({ hash: _hash, by: _by, ...row }) => row);
  }

  async #append(fact: NewFact): Promise<void> {
    for (;;) {
      const live = new LiveSession(TOKEN_LOG);
      if (await this.#store.head(TOKEN_LOG)) await live.refresh(this.#store);
      const batch = new Batch(live, this.#clock.now());
      batch.add(fact);
      try {
        await batch.commit(this.#store);
        return await this.#refresh(true);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }

  async #refresh(now = false): Promise<void> {
    // A look that began before what is asked about was written may not have seen it.
    if (now && this.#looking) await this.#looking;
    if (!now && this.#clock.monotonic() - this.#lookedAt < FRESH_MS) return;
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #read(): Promise<void> {
    const lookedAt = this.#clock.monotonic();
    const { seq = 0 } = (await this.#store.head(TOKEN_LOG)) ?? {};
    if (seq > this.#head)
      for (const event of (await this.#store.read(TOKEN_LOG, this.#head + 1, seq)).map(open)) {
        if (event.type === 'token.added') {
          this.#byHash.set(event.data.hash, event.data);
          this.#byId.set(event.data.id, event.data);
        }
        if (event.type === 'token.revoked') this.#forget(event.data.id);
        this.#head = event.seq;
      }
    this.#lookedAt = lookedAt;
  }

  #forget(id: string): void {
    const added = this.#byId.get(id);
    if (added) this.#byHash.delete(added.hash);
    this.#byId.delete(id);
  }
}

const checked = (token: NewToken): NewToken => {
  const { name, roles, tenant, expiresAt } = token;
  if (!NAME.test(name))
    throw badInput(
      'token-invalid',
      `"${name}" is no name for a token: 1 to 100 characters, none of them a control.`,
    );
  const odd = roles.find((role) => !ROLE.test(role));
  if (roles.length === 0 || odd !== undefined)
    throw badInput(
      'token-invalid',
      `${odd === undefined ? 'No role was given' : `"${odd}" is no role`}: ${DOOR_ROLES.join(', ')}, or a name of a-z, 0-9 and "-" that policies ask for.`,
    );
  if (tenant !== undefined && !TENANT.test(tenant))
    throw badInput(
      'token-invalid',
      // An empty one would see every tenant: a variable that was not set must not open all doors.
      `"${tenant}" is no tenant: 1 to 64 of a-z, A-Z, 0-9, "_", "-" and ".". Without a tenant a token sees all of them.`,
    );
  if (expiresAt !== undefined && !Number.isFinite(expiresAt))
    throw badInput('token-invalid', `${expiresAt} is no moment at which a token could run out.`);
  return token;
};
