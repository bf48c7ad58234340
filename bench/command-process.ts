/** The command of a build. Usage: command-process.ts BUILD and what the command is asked. */
import { join } from 'node:path';
import type * as Main from '../src/cli/main.ts';

const [build = ''] = process.argv.splice(2, 1);
const { main } = (await import(join(build, 'cli', 'main.js'))) as typeof Main;
process.exitCode = await main(process);
