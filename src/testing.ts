/** onrecord/testing: what a test of an agent needs: a script for a model, a log in memory, time that waits. */
export { MemoryLog } from './log/memory.ts';
export { readScript } from './model/script-file.ts';
export { scriptedModel, type ScriptedModel } from './model/scripted.ts';
export { VirtualClock } from './suite/simulation/virtual-clock.ts';
export type { Check, CodedExam, CodedSuite } from './suite/exam/coded.ts';
