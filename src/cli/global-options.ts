/** Options that every command takes. */
export const GLOBAL_OPTIONS: readonly (readonly [flags: string, description: string])[] = [
  ['--json', 'print one JSON value on stdout, one per line for streams'],
  ['--store <path>', 'a SQLite file or postgres://…, default .onrecord/log.db beside the configuration'],
  ['--config <path>', 'the configuration file, default onrecord.config.ts here or above'],
  ['--color <when>', 'auto, always or never'],
  ['--ascii', 'symbols in ASCII only'],
  ['--utc', 'times in UTC'],
  ['-q, --quiet', 'results only'],
  ['--trace', 'print the stack of an error'],
];
