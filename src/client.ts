/** onrecord/client: the HTTP door from the other side. */
export {
  DoorError,
  OnrecordClient,
  type Changing,
  type ClientOptions,
  type Sending,
  type SessionChange,
  type Streaming,
  type StreamItem,
} from './client/client.ts';
export type * from './server/reports.ts';
export type * from './server/schemas.ts';
