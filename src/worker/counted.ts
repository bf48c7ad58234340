/** Tokens as a model counts them. Foreign code may leave classes out or count with what is no number: then nothing is known. */
import type { Usage } from '../event/content.ts';
import type { ModelReply } from '../model/model.ts';
import type { Logger } from '../tool/tool.ts';

const CLASSES = ['cacheRead', 'cacheWrite', 'input', 'output'] as const;

const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isUsage = (usage: Usage): boolean =>
  CLASSES.every((name) => isCount(usage[name])) &&
  (usage.cacheWriteLong === undefined || isCount(usage.cacheWriteLong));

/** Without a usage that would be counted on and is none; half of a count is worse than none. */
export const counted = <Reply extends ModelReply>(reply: Reply, log: Logger): Reply => {
  if (reply.usage === undefined || isUsage(reply.usage)) return reply;
  const { usage, ...rest } = reply;
  log.warn(
    `A model counted its tokens with ${JSON.stringify(usage)}: each of ${CLASSES.join(', ')} has to be a number from 0 up.`,
  );
  return rest as Reply;
};
