/** Where a PostgreSQL store is: a URL as people write it, and as it may be shown. */
import { badInput } from '../errors.ts';

/** The schema that holds the tables, where the URL names none with `?schema=`. */
export const SCHEMA = 'onrecord';
/** It stands unquoted in statements; PostgreSQL itself takes 63 bytes. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,47}$/;
const MASK = '***';
const SCHEMES: ReadonlySet<string> = new Set(['postgres:', 'postgresql:']);

export type PostgresPlace = {
  /** For the driver; holds the password, if there is one. */
  readonly url: string;
  readonly schema: string;
  /** For people: without the password. */
  readonly shown: string;
};

export const isPostgres = (store: string): boolean => /^postgres(ql)?:\/\//.test(store);

/** The same without its password, wherever that stands, for whatever is printed. Never throws. */
export const maskedStore = (store: string): string => {
  if (!isPostgres(store)) return store;
  if (!URL.canParse(store)) return `${store.slice(0, store.indexOf('//') + 2)}${MASK}`;
  const url = new URL(store);
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) if (/pass/i.test(name)) url.searchParams.set(name, MASK);
  return url.href;
};

/** Throws `store-url-invalid`; the URL itself is not quoted, because it may hold a password. */
export const postgresPlace = (store: string): PostgresPlace => {
  const url = URL.canParse(store) ? new URL(store) : undefined;
  if (!url || !SCHEMES.has(url.protocol))
    throw badInput(
      'store-url-invalid',
      `The store ${maskedStore(store)} is no PostgreSQL URL. One looks like postgres://user:password@host:5432/database; ` +
        'characters of the password that mean something in a URL are written as %XX. One host is named, not several.',
    );
  const schema = url.searchParams.get('schema') ?? SCHEMA;
  url.searchParams.delete('schema');
  if (!SCHEMA_NAME.test(schema) || schema.startsWith('pg_'))
    throw badInput(
      'store-url-invalid',
      `"${schema}" cannot be the schema of a store. It takes 1 to 48 of a-z, 0-9 and "_", and does not begin with a digit or "pg_".`,
      { schema },
    );
  return { url: url.href, schema, shown: maskedStore(store) };
};
