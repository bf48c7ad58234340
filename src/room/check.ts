/** Checks a job before a room is spent on it: sizes, names, and that what is called JSON is. */
import { badInput } from '../errors.ts';
import { FILE_NAME, type RoomJob } from './job.ts';

const refuse = (message: string): never => {
  throw badInput('job-invalid', message);
};

const within = (what: string, value: number, name: string, max: number): void => {
  if (value > max) refuse(`${what} ${value}; the limit ${name} is ${max}.`);
};

/** Throws `job-invalid`. */
export const checkJob = ({ code, input, files, tools, answers, engine, limits, clockMs }: RoomJob): void => {
  within('UTF-8 bytes of the program:', Buffer.byteLength(code), 'codeBytes', limits.codeBytes);
  within('UTF-8 bytes of the input:', Buffer.byteLength(input), 'inputBytes', limits.inputBytes);
  within('Files:', files.size, 'filesIn', limits.filesIn);
  const bytes = [...files.values()].reduce((sum, file) => sum + file.length, 0);
  within('Bytes of the files:', bytes, 'filesInBytes', limits.filesInBytes);
  within('Answers:', answers.length, 'toolCalls', limits.toolCalls);
  for (const { tool, args, result = '', error = '' } of answers) {
    within(`Bytes of the arguments of ${tool}:`, Buffer.byteLength(args), 'callBytes', limits.callBytes);
    within(
      `Bytes of the answer of ${tool}:`,
      Buffer.byteLength(result + error),
      'inputBytes',
      limits.inputBytes,
    );
    if (!tools.includes(tool)) refuse(`An answer is for "${tool}", which the program may not call.`);
  }
  for (const name of files.keys())
    if (!FILE_NAME.test(name))
      refuse(
        `The file name ${JSON.stringify(name)} must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with ".".`,
      );
  if (!Number.isSafeInteger(clockMs) || clockMs < 0)
    refuse(`The clock ${clockMs} is no count of milliseconds since 1970.`);
  if (engine === 'node' && (tools.length > 0 || answers.length > 0))
    refuse('The engine node is not repeatable, so a program in it calls no tools.');
};
