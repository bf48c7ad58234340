/** onrecord/restate: Restate says which worker looks at a session next. Needs the package @restatedev/restate-sdk. */
export { RestateDispatcher, type RestateOptions } from './worker/restate-dispatcher.ts';
