#!/usr/bin/env node
// The package runs its build; a checkout runs the source as it lies. An old Node can read this file, and no other.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `✗ Onrecord needs Node ${NODE_MAJOR_MIN} or later; this is Node ${process.versions.node}. Nothing was done.  node-too-old\n` +
      '  In a project: npm install --save-dev node@26, then npx onrecord ...\n',
  );
  process.exit(2);
}

const here = (path) => new URL(path, import.meta.url);
const isCheckout = existsSync(here('../src/cli/main.ts'));
// What Node has compiled is kept among the packages, where only those write who could change them, too: a start from
// source takes half the time. Where there are none, or nothing can be written, nothing is kept.
const packages = fileURLToPath(here(isCheckout ? '../node_modules/' : '../../'));
if (basename(packages) === 'node_modules' && existsSync(packages))
  module.enableCompileCache(join(packages, '.cache', 'onrecord'));
const { main } = await import(here(isCheckout ? '../src/cli/main.ts' : '../dist/cli/main.js').href);
process.exitCode = await main(process);
