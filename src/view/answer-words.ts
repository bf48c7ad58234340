/** What people answered, what tools found out and who was told, in the words of a line. */
import type { ApprovalDecision, EventData, Grant } from '../event/events.ts';
import { argumentsBrief, because, contentBrief, firstLine } from './brief.ts';
import type { Mark } from './event-line.ts';
import { formatDuration } from './format.ts';

type Words = { readonly mark?: Mark; readonly text: string };

export const decidedWords = (decision: ApprovalDecision, tool: string): Words => {
  switch (decision.do) {
    case 'approve':
      return { text: `approved ${tool}${grantWords(decision.grant)}` };
    case 'edit':
      return { text: `changed ${tool}: ${argumentsBrief(decision.args)}` };
    case 'reject':
      return { mark: 'fail', text: `rejected ${tool}${because(decision.reason)}` };
    case 'respond':
      return { text: `answered instead of ${tool}: ${contentBrief(decision.content)}` };
    default:
      return decision satisfies never;
  }
};

const grantWords = (grant: Grant | undefined): string =>
  grant === undefined ? '' : `, and calls like it for ${formatDuration(grant.forMs)}`;

export const settledWords = ({ settlement, note }: EventData['call.settled'], tool: string): string => {
  const words = {
    happened: `${tool} happened`,
    'not-happened': `${tool} did not happen`,
    'give-up': `${tool} stays unknown`,
  }[settlement.answer];
  return `settled: ${words}${because(note)}`;
};

export const reconciledWords = (answer: EventData['call.reconciled']['answer']): Words => {
  if (answer.happened === true)
    return { mark: 'ok', text: `has checked: it happened, ${contentBrief(answer.content)}` };
  if (answer.happened === false) return { text: 'has checked: it did not happen' };
  return { text: `cannot tell: ${firstLine(answer.note)}` };
};

/** "asked 1", "escalated 1", "in-doubt 2": what people were told of, and the round or attempt. */
const TOPICS: Readonly<Record<string, string | undefined>> = {
  asked: 'the question',
  escalated: 'the escalation',
  'in-doubt': 'the doubt',
};

export const noticeWords = ({ topic, channels }: EventData['notice.sent']): Words => {
  const what = TOPICS[topic.split(' ', 1)[0] ?? ''] ?? topic;
  const told = channels.flatMap(({ name, problem }) => (problem === undefined ? [name] : []));
  const failed = channels.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [`${name} failed: ${firstLine(problem)}`],
  );
  const start = told.length === 0 ? `nobody was told of ${what}` : `${told.join(', ')} told of ${what}`;
  return { mark: told.length === 0 ? 'fail' : 'fact', text: [start, ...failed].join('; ') };
};
