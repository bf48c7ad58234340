/** Where a PostgreSQL store is: a URL as people write it, and as it may be shown. */
import { badInput } from '../errors.ts';

/** The schema that holds the tables, where the URL names none with `?schema=`. */
export const SCHEMA = 'onrecord';
/** It stands unquoted in statements; PostgreSQL itself takes 63 bytes. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;
const MASK = '***';
const SCHEMES: ReadonlySet<string> = new Set(['postgres:', 'postgresql:']);

/** Several hosts, as libpq has them: everything else in the URL is said once and holds for each. */
const SEVERAL_HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]+,[^@/?#]+)([/?#].*)?$/s;
/** What libpq may be asked for that is the case here anyway. */
const PRIMARIES: ReadonlySet<string> = new Set(['read-write', 'primary']);

export type PostgresPlace = {
  /** For the driver, one for each host, in the order of the URL; they hold the password, if there is one. */
  readonly urls: readonly string[];
  readonly schema: string;
  /** For people: without the password. */
  readonly shown: string;
};

export const isPostgres = (store: string): boolean => /^postgres(ql)?:\/\//.test(store);

/** One URL for each host; undefined where it is none that can be read. */
const urlsOf = (store: string): readonly URL[] | undefined => {
  const [, before = '', hosts, behind = ''] = SEVERAL_HOSTS.exec(store) ?? [];
  const all = hosts === undefined ? [store] : hosts.split(',').map((host) => `${before}${host}${behind}`);
  if (!all.every((one) => URL.canParse(one))) return undefined;
  const urls = all.map((one) => new URL(one));
  return urls.every(({ protocol, host }) => SCHEMES.has(protocol) && (host !== '' || hosts === undefined))
    ? urls
    : undefined;
};

/** The same without its password, wherever that stands, for whatever is printed. Never throws. */
export const maskedStore = (store: string): string => {
  if (!isPostgres(store)) return store;
  const urls = urlsOf(store);
  const [url] = urls ?? [];
  if (!urls || !url) return `${store.slice(0, store.indexOf('//') + 2)}${MASK}`;
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) if (/pass/i.test(name)) url.searchParams.set(name, MASK);
  if (urls.length === 1) return url.href;
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : `:${MASK}`}@`;
  return `${url.protocol}//${user}${urls.map(({ host }) => host).join(',')}${url.pathname}${url.search}`;
};

/** Throws `store-url-invalid`; the URL itself is not quoted, because it may hold a password. */
export const postgresPlace = (store: string): PostgresPlace => {
  const urls = urlsOf(store);
  const [first] = urls ?? [];
  if (!urls || !first)
    throw badInput(
      'store-url-invalid',
      `The store ${maskedStore(store)} is no PostgreSQL URL. One looks like postgres://user:password@host:5432/database, ` +
        'or with several hosts, host-a:5432,host-b:5432; characters of the password that mean something in a URL are written as %XX.',
    );
  const schema = first.searchParams.get('schema') ?? SCHEMA;
  if (!SCHEMA_NAME.test(schema) || schema.startsWith('pg_'))
    throw badInput(
      'store-url-invalid',
      `"${schema}" cannot be the schema of a store. It takes 1 to 48 of a-z, 0-9 and "_", and does not begin with a digit or "pg_".`,
      { schema },
    );
  const wanted = first.searchParams.get('target_session_attrs');
  if (wanted !== null && !PRIMARIES.has(wanted))
    throw badInput(
      'store-url-invalid',
      `target_session_attrs is "${wanted}". Nothing is decided on a standby: it can be read-write or primary, which it is without saying so.`,
      { wanted },
    );
  const plain = urls.map((url) => {
    url.searchParams.delete('schema');
    url.searchParams.delete('target_session_attrs');
    return url.href;
  });
  return { urls: plain, schema, shown: maskedStore(store) };
};
