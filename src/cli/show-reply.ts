/** A reply as it came, from the record alone: its bytes with the framing of the stream, or what they say. */
import type { LogStore } from '../log/store.ts';
import { EventDecoder } from '../model/openai-events.ts';
import { countOf, formatBytes, formatDuration } from '../view/format.ts';
import { remarkLines } from '../view/remark-words.ts';
import { exactReply, type ExactReply, type ReplyWanted } from '../view/reply-view.ts';
import type { Cli } from './cli.ts';
import { jsonLines } from './coloured-json.ts';
import type { Input } from './command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { isGiven } from './given.ts';
import type { Read } from './show-request.ts';
import { dim, EMPTY, line, SIGN, strong, theirLines, type Shown } from './terminal/shown.ts';

export const showReply = async (
  cli: Cli,
  { store, reading }: Read,
  wanted: ReplyWanted,
  input: Input,
): Promise<ExitCode> => {
  const { screen } = cli;
  const blob: LogStore['blob'] = (digest) => store.blob(digest);
  const reply = await exactReply(reading, wanted, blob);
  if (isGiven(input, 'raw')) {
    if (!reply.bytes) screen.note(noneLine(reply));
    else screen.bytes(reply.bytes);
    return EXIT.done;
  }
  if (screen.jsonMode) {
    screen.json(replyJson(reply));
    return EXIT.done;
  }
  screen.note(...headLines(reading.state.session, reply), EMPTY);
  if (reply.bytes) screen.out(...bodyLines(reply.bytes, reply.answered.data.raw?.media ?? ''));
  else screen.note(noneLine(reply));
  return EXIT.done;
};

const replyJson = ({ request, answered, bytes }: ExactReply): Readonly<Record<string, unknown>> => {
  const { attempt, wire, raw } = answered.data;
  return {
    request: request.number,
    attempt,
    seq: answered.seq,
    kind: answered.type,
    problem: answered.type === 'request.failed' ? answered.data.problem : null,
    wire: wire ?? null,
    media: raw?.media ?? null,
    ...(bytes ? textOrBase64(bytes) : { body: null }),
  };
};

/** Text where the bytes are UTF-8 and come back as they were; else base64. */
const textOrBase64 = (bytes: Uint8Array): { readonly body: string } | { readonly base64: string } => {
  const body = Buffer.from(bytes).toString('utf8');
  return Buffer.from(body).equals(bytes) ? { body } : { base64: Buffer.from(bytes).toString('base64') };
};

const headLines = (session: string, { request, attempts, answered, bytes }: ExactReply): Shown[] => {
  const { data } = answered;
  const [mark, what] =
    answered.type === 'response.received'
      ? [SIGN.fact, 'Reply']
      : [SIGN.fail, `Failed reply (${answered.data.problem.kind})`];
  const which = attempts.length > 1 ? `, attempt ${data.attempt} of ${attempts.length}` : '';
  const status = data.wire?.status === undefined ? '' : `status ${data.wire.status}, `;
  const size = bytes ? formatBytes(bytes.length) : 'no bytes';
  const headers = Object.entries(data.wire?.received ?? {});
  const remarks = answered.type === 'response.received' ? remarkLines(answered.data.remarks) : [];
  return [
    line`${mark} ${strong(line`${what} to request ${request.number}`)} of ${session}, event ${answered.seq}${which}`,
    line`  ${status}${size}, ${formatDuration(data.ms)}. Checked against the record.`,
    ...headers.map(([name, value]) => dim(line`  ${name}: ${value}`)),
    ...remarks.map((said) => line`  ${said}`),
  ];
};

const noneLine = ({ answered, attempts }: ExactReply): Shown => {
  const other = attempts.find(({ data }) => data.raw)?.data.attempt;
  const more = other === undefined ? '' : ` Attempt ${other} brought some bytes: --attempt ${other}.`;
  const why = answered.data.wire ? 'Nothing came.' : 'This model speaks without bytes, or nothing came.';
  return line`${why}${more}`;
};

const bodyLines = (bytes: Uint8Array, media: string): Shown[] => {
  if (media.startsWith('text/event-stream')) return streamLines(bytes);
  const text = Buffer.from(bytes).toString('utf8');
  if (media.includes('ndjson')) return text.split('\n').filter(Boolean).flatMap(valueLines);
  return valueLines(text);
};

/** Each event of a stream, numbered; what says nothing (comments, names, ids) stands in the raw bytes alone. */
const streamLines = (bytes: Uint8Array): Shown[] => {
  const decoder = new EventDecoder();
  const events = [...decoder.push(bytes), ...decoder.end()];
  const lines = events.flatMap(({ data, last }, i) => [
    dim(line`· event ${i + 1}${last ? ', without its end' : ''}`),
    ...valueLines(data),
  ]);
  return [...lines, dim(line`${countOf(events.length, 'event')}. The bytes as they came: --raw`)];
};

const valueLines = (text: string): Shown[] => {
  try {
    return jsonLines(JSON.parse(text));
  } catch {
    // A proxy's page, the end of a stream, or what a broken one left.
    return theirLines(text);
  }
};
