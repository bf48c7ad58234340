/**
 * The recorded conversations as a suite, one scenario each:
 *
 *   onrecord suite run examples/airline/conversations.ts
 *
 * The users say what they said, the recorded assistant answers what it answered, the tools work on a database on the
 * desk. Expected are the recorded writes, their records at the end and the digest of the whole database; and every
 * result and every request as recorded. With `--model` another model answers the same users.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CodedExam, CodedSuite } from '../../src/testing.ts';
import { AirlineFile } from './database-file.ts';
import {
  DATA_FOLDER,
  loadAirline,
  missingFiles,
  recordedAgent,
  type Airline,
  type Recording,
} from './recording.ts';
import { TABLES } from './records.ts';
import { judge } from './verdict.ts';

const DATABASE = 'airline.db';

export default (data: string = DATA_FOLDER): CodedSuite => {
  const missing = missingFiles(data);
  if (missing.length > 0)
    return {
      skipped: `The recordings are not beside this checkout (${missing.join(', ')}): examples/airline/README.md says how to get them.`,
    };
  const airline = loadAirline(data);
  const base = filled(airline);
  return { exams: airline.recordings.map((recording) => conversation(airline, recording, base)) };
};

/** The path of a database as it was before every conversation, made when it is first wanted. */
const filled = (airline: Airline): (() => string) => {
  let made: string | undefined;
  return () => {
    if (made !== undefined) return made;
    const folder = mkdtempSync(join(tmpdir(), 'onrecord-airline-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    made = join(folder, DATABASE);
    new AirlineFile(made, airline.base).close();
    return made;
  };
};

const conversation = (airline: Airline, recording: Recording, base: () => string): CodedExam => {
  const { id, messages, write_calls: writes, final_changed: changed } = recording;
  const said = messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  return {
    scenario: {
      name: id.replace('-', '/'),
      tags: ['airline', writes.length > 0 ? 'writes' : 'reads'],
      turns: said,
      expect: {
        calls: writes.map(({ tool }) => tool),
        asked: [],
        changed: Object.keys(changed).length > 0 || writes.length > 0 ? [DATABASE] : [],
        databases: [
          {
            at: DATABASE,
            query: `SELECT name, key FROM record WHERE conversation = '${id}' ORDER BY name, key`,
            rows: keysOf(changed),
          },
        ],
        // The recording has no answer to the last message.
        outcome: said.map((_, i) => (i === said.length - 1 ? 'refused' : 'done')),
      },
    },
    agent({ desk, model }) {
      const path = join(desk, DATABASE);
      if (!existsSync(path)) {
        mkdirSync(desk, { recursive: true });
        copyFileSync(base(), path);
      }
      const database = new AirlineFile(path, airline.base).database(id);
      return recordedAgent(airline, recording, { database, ...(model && { model }) });
    },
    async check({ log, session, desk, agent }) {
      // Another model answers otherwise; what it is held against are the writes and the records.
      if (agent.model.definition.name !== id) return [];
      const file = new AirlineFile(join(desk, DATABASE), airline.base);
      try {
        const { problems } = await judge(recording, { store: log, session, database: file.database(id) });
        return problems.map((message) => ({ expectation: 'recording', message }));
      } finally {
        file.close();
      }
    },
  };
};

const keysOf = (
  changed: Recording['final_changed'],
): readonly { readonly name: string; readonly key: string }[] =>
  TABLES.toSorted().flatMap((name) =>
    Object.keys(changed[name] ?? {})
      .toSorted()
      .map((key) => ({ name, key })),
  );
