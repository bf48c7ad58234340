/** onrecord/postgres: the log in PostgreSQL, for one or many processes, and pg-boss to say who drives what. */
export { PostgresLog, type PostgresOptions } from './log/postgres.ts';
export { migratePostgres, type Migrated } from './log/postgres-schema.ts';
export { migrateJobs } from './log/postgres-jobs.ts';
export { PgBossDispatcher, type PgBossOptions } from './worker/pg-boss-dispatcher.ts';
