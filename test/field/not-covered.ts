/** Cases that are not tried, each with what is missing or where it is shown instead. */
import { CAN_MOUNT } from '../crash/children/disk.ts';
import { NO_POSTGRES } from './stores.ts';

export const NOT_COVERED: Readonly<Record<string, string>> = {
  ...(!CAN_MOUNT && { 'FC-87': 'no disk of its own can be mounted here' }),
  ...(NO_POSTGRES !== undefined && { 'FC-89': NO_POSTGRES, 'FC-95': NO_POSTGRES }),
};
