/** onrecord/postgres: the log in PostgreSQL, for one or many processes. */
export { PostgresLog, type PostgresOptions } from './log/postgres.ts';
export { migratePostgres, type Migrated } from './log/postgres-schema.ts';
