/** What the model was sent, made again from the log alone, and held against the recording. */
import { rebuildRequest } from '../../src/context/rebuild.ts';
import type { LogEvent, LogStore } from '../../src/index.ts';
import type { RecordedMessage, Recording } from './recording.ts';
import { meaning } from './text.ts';

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly args: string };
type Result = {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
};

/** A message as the scripted model is sent it. */
export type SentMessage =
  | { readonly role: 'user' | 'note'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: readonly Block[] }
  | { readonly role: 'results'; readonly content: readonly Result[] };

/** Every request of a session, in order. Throws where the bytes do not prove themselves. */
export const sentRequests = async (
  store: LogStore,
  events: readonly LogEvent[],
): Promise<readonly (readonly SentMessage[])[]> => {
  const source = {
    eventAt: (seq: number) => events[seq - 1],
    blob: (digest: Parameters<LogStore['blob']>[0]) => store.blob(digest),
  };
  const requests: (readonly SentMessage[])[] = [];
  for (const { type, seq } of events) {
    if (type !== 'request.built') continue;
    const { body } = await rebuildRequest(source, seq);
    requests.push((JSON.parse(body) as { messages: SentMessage[] }).messages);
  }
  return requests;
};

/** What a provider would refuse: an id that stands for two calls, a call without exactly one result after it. */
export const malformed = (messages: readonly SentMessage[]): readonly string[] => {
  const problems: string[] = [];
  const ids = new Set<string>();
  let open: readonly string[] = [];
  for (const [i, message] of messages.entries()) {
    const answered = message.role === 'results' ? message.content.map(({ id }) => id) : [];
    if (answered.join() !== open.join())
      problems.push(`message ${i}: results of [${answered.join()}], calls before are [${open.join()}]`);
    open = [];
    if (message.role !== 'assistant') continue;
    open = message.content.flatMap((block) => (block.type === 'call' ? [block.id] : []));
    for (const id of open) {
      if (ids.has(id)) problems.push(`message ${i}: the id ${id} stands for a second call`);
      ids.add(id);
    }
  }
  if (open.length > 0) problems.push(`the calls [${open.join()}] have no result`);
  if (messages.at(-1)?.role === 'assistant') problems.push('the last message is the assistant');
  return problems;
};

/** The difference between what was sent and what the recording had said by then; undefined where there is none. */
export const difference = (
  requests: readonly (readonly SentMessage[])[],
  { messages }: Recording,
): string | undefined => {
  const asked = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  // One more for what comes after the last answer.
  const lengths = [...asked, messages.length];
  if (requests.length !== lengths.length)
    return `${requests.length} requests, the recording has room for ${lengths.length}`;
  for (const [i, request] of requests.entries()) {
    if (request.length !== lengths[i])
      return `request ${i + 1} has ${request.length} messages, not ${lengths[i]}`;
    const at = request.findIndex((sent, index) => !same(sent, messages[index]));
    if (at >= 0) return `request ${i + 1}, message ${at}: ${JSON.stringify(request[at]).slice(0, 200)}`;
  }
  return undefined;
};

const same = (sent: SentMessage, recorded: RecordedMessage | undefined): boolean => {
  switch (recorded?.role) {
    case undefined:
      return false;
    case 'user':
      return sent.role === 'user' && sent.content === recorded.content;
    case 'assistant':
      return sent.role === 'assistant' && sameAnswer(sent.content, recorded);
    case 'tool': {
      const result = sent.role === 'results' ? sent.content[0] : undefined;
      if (!result || result.isError || result.name !== recorded.name) return false;
      // Providers refuse an empty text, so the runtime puts words in its place.
      return recorded.content === ''
        ? result.text !== ''
        : meaning(result.text) === meaning(recorded.content);
    }
    default:
      return recorded satisfies never;
  }
};

const sameAnswer = (
  blocks: readonly Block[],
  { content, tool_calls = [] }: Extract<RecordedMessage, { role: 'assistant' }>,
): boolean => {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const calls = blocks.flatMap((block) => (block.type === 'call' ? [`${block.name} ${block.args}`] : []));
  const recorded = tool_calls.map((call) => `${call.function.name} ${call.function.arguments}`);
  return texts.join() === (content ?? '') && calls.join() === recorded.join();
};
