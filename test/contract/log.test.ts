/** The contract over the stores that need nothing but this process. */
import { MemoryLog } from '../../src/log/memory.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { describeLog } from './log.ts';

describeLog('MemoryLog', () => new MemoryLog());
describeLog('SqliteLog', () => openSqlite(tempFile()));
