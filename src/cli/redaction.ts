/** --redact on the command line: rules as they are given, and what they removed. */
import { parseRules } from '../bundle/redaction-rules.ts';
import { redact } from '../bundle/redact.ts';
import type { Redacted } from '../bundle/write.ts';
import { countOf } from '../view/format.ts';
import type { Cli } from './cli.ts';
import { givenText } from './given.ts';
import type { NamedRecord } from './named-record.ts';
import { line, SIGN } from './terminal/shown.ts';

/** Throws `redaction-invalid`, `redaction-matched-nothing`, and what reading the file of rules throws. */
export const redactedBy = async (
  cli: Cli,
  { store, session }: NamedRecord,
  given: string,
): Promise<Redacted> => {
  const rules = parseRules(await givenText('redact', given));
  const redaction = await redact(await store.read(session), rules, (digest) => store.blob(digest));
  for (const { text } of rules)
    if (!redaction.counts.has(text))
      cli.screen.note(line`${SIGN.wait} ${text}: there was nothing to remove.`);
  const repeats = redaction.counts.get('repeats') ?? 0;
  if (repeats > 0)
    cli.screen.note(
      line`${countOf(repeats, 'more text')} repeated a line of what was removed; ${repeats === 1 ? 'it was' : 'they were'} removed, too.`,
    );
  cli.screen.note(
    line`What says the same in other words is not found. Read the result before you hand it on.`,
  );
  return redaction;
};
