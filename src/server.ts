/** onrecord/server: the HTTP door. */
export { createApp, type App, type DoorOptions } from './server/app.ts';
export { DOOR_LIMITS_DEFAULT, type DoorLimits } from './server/limits.ts';
export { listen, type Listening, type ListenOptions } from './server/listen.ts';
export { PROBLEMS, type Problem } from './server/problem.ts';
export { DOOR_ROLES, Tokens, type NewToken, type TokenRow } from './server/tokens.ts';
