/** Cases that are not tried, each with what is missing or where it is shown instead. */
import { CAN_MOUNT } from '../crash/children/disk.ts';
import { NO_POSTGRES } from './stores.ts';

export const NOT_COVERED: Readonly<Record<string, string>> = {
  'FC-68':
    'there is no tool that runs shell commands; remembered leave holds conditions on arguments, never prefixes of text (test/spec/grant*.test.ts)',
  ...(!CAN_MOUNT && { 'FC-87': 'no disk of its own can be mounted here' }),
  ...(NO_POSTGRES !== undefined && { 'FC-89': NO_POSTGRES, 'FC-95': NO_POSTGRES }),
  'FC-99':
    'there is one version of the log so far; test/golden holds its logs, test/promise/newer.test.ts what is newer',
  'FC-119':
    'shown in test/view/cache-reuse.test.ts with instructions that hold a time; a warning at the definition is not built',
  'FC-139':
    'shown for zones and host zones in test/tool/calendar-time.test.ts, which starts processes with another TZ',
  'FC-161': 'this harness starts no rooms yet; test/room/attacks.test.ts does',
};
