/** A process that holds the write lock of a store until it reads a line. Usage: child-locker.ts FILE */
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';

const [file = ''] = process.argv.slice(2);
const db = new DatabaseSync(file);
db.exec('PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE');
process.stdout.write('locked\n');
await once(process.stdin, 'data');
db.exec('ROLLBACK');
db.close();
process.stdout.write('unlocked\n');
process.exit(0);
