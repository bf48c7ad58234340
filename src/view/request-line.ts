/** A model request and its response in the words of a line. */
import type { ResponseBlock } from '../event/content.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { firstLine } from './brief.ts';
import type { Told } from './event-line.ts';
import { countOf, formatBytes, formatCost, formatCount, formatDuration, formatShare } from './format.ts';
import { tokensIn, type Reading } from './reading.ts';
import { changesBrief, tierWords } from './remark-words.ts';

export type RequestEvent = Extract<
  LogEvent,
  { type: 'request.built' | 'request.refused' | 'request.failed' | 'request.retry' | 'request.sent' }
>;

export const requestTold = (reading: Reading, event: RequestEvent): Told => {
  const { turn, step } = event.data;
  const number = reading.requestAt(event.seq)?.number ?? reading.requestOf(turn, step)?.number ?? 0;
  const who = `request ${number}`;
  switch (event.type) {
    case 'request.built':
      return { who, text: builtText(reading, event.seq) + replacedText(event.data) };
    case 'request.refused':
      return { mark: 'fail', who: '', text: `not sent: ${firstLine(event.data.message)}` };
    case 'request.failed': {
      const { problem, maybeBilled, ms } = event.data;
      const billed = maybeBilled ? ', may be billed' : '';
      return { who, mark: 'fail', text: `${firstLine(problem.message)} (${problem.kind}${billed})`, ms };
    }
    case 'request.retry': {
      const { attempt, reason, notBefore, maybeBilled } = event.data;
      const wait = notBefore > event.at ? ` in ${formatDuration(notBefore - event.at)}` : '';
      const billed = maybeBilled ? ', the lost one may be billed' : '';
      return { who, text: `again${wait}, attempt ${attempt} (${reason}${billed})`, by: 'recovery' };
    }
    case 'request.sent':
      return { who, text: `sent again, attempt ${event.data.attempt}` };
    default:
      return event satisfies never;
  }
};

const builtText = (reading: Reading, seq: number): string => {
  const request = reading.requestAt(seq);
  if (!request) return '';
  const { bytes, newBytes, newFrame, parts, number, answer, summary } = request;
  if (summary) return `${countOf(parts, 'part')}, asks for a summary`;
  const size = answer?.usage
    ? `${countOf(parts, 'part')}, ${formatCount(tokensIn(answer.usage))} tokens`
    : `${countOf(parts, 'part')}, ${formatBytes(bytes)}`;
  if (number === 1) return `${size}, nothing to reuse yet`;
  if (newFrame) return `${size}, all new: the agent is another`;
  if (newBytes === bytes) return `${size}, all new`;
  return answer?.usage
    ? `${size}, ${formatShare((bytes - newBytes) / bytes, 1)} shared`
    : `${size}, ${formatBytes(newBytes)} of them new`;
};

const replacedText = ({ replaced = 0 }: EventData['request.built']): string =>
  replaced === 0 ? '' : `, ${countOf(replaced, 'character')} that no provider takes sent as U+FFFD`;

const STOPS: Readonly<Record<EventData['response.received']['stop'], string | undefined>> = {
  end: undefined,
  calls: undefined,
  'stop-sequence': undefined,
  length: 'cut at the output limit',
  paused: 'paused',
  refusal: 'declined',
  'context-overflow': 'context window full',
  unknown: 'stopped for an unknown reason',
};

export const responseTold = (reading: Reading, data: EventData['response.received']): Told => {
  const { content, cost, ms, firstTokenMs, stop, turn, step, remarks } = data;
  const body = content
    .flatMap((block: ResponseBlock) =>
      block.type === 'text' && block.text.trim() !== '' ? [block.text] : [],
    )
    .join('\n\n');
  const calls = content.filter((block) => block.type === 'call').length;
  const summary = reading.requestOf(turn, step)?.summary === true;
  const asks = summary
    ? 'writes a summary'
    : calls > 0
      ? `asks for ${countOf(calls, 'call')}`
      : body === ''
        ? 'says nothing'
        : 'answers';
  const stopped = STOPS[stop];
  const first =
    firstTokenMs !== undefined && firstTokenMs > 0 ? [`first token ${formatDuration(firstTokenMs)}`] : [];
  const tier = tierWords(remarks);
  const words = [asks, stopped, changesBrief(remarks)].filter((part) => part !== undefined);
  return {
    who: 'model',
    text: words.join(', '),
    detail: [
      ...first,
      cost === undefined ? 'cost unknown' : formatCost(cost),
      ...(tier === undefined ? [] : [tier]),
    ].join(', '),
    by: reading.state.agent.model.name,
    ms,
    ...(body !== '' && { body }),
  };
};
