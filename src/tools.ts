/** onrecord/tools: the built-in tools, apart from the main entry so that a program loads only the ones it uses. */
export { calendarTools, type CalendarToolsOptions } from './tool/calendar/tools.ts';
export { csvTools } from './tool/csv/tools.ts';
export { fileTools } from './tool/files/tools.ts';
export { httpTools } from './tool/http/get.ts';
export { javascriptTools, type JavascriptToolsOptions } from './tool/javascript/tools.ts';
export { mailTools } from './tool/mail/tools.ts';
export type { RoomEnd, RoomJob, ToolAnswer, ToolRequest, Why } from './room/job.ts';
export type { Engine, Level, RoomFacts, RoomRecord, Usage } from './room/level.ts';
export type { RoomLimits } from './room/limits.ts';
export { openRooms, type RoomRun, type Rooms, type RoomsOptions } from './room/rooms.ts';
