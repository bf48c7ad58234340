/** A bookkeeping clerk: holds the ledger against rules, invoices and published rates, and corrects cells. */
import { join } from 'node:path';
import { defineAgent, scriptedModel, type Agent, type Model } from '../../src/index.ts';
import type { Policy } from '../../src/event/definition.ts';
import { csvTools } from '../../src/tool/csv/tools.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { httpTools } from '../../src/tool/http/get.ts';
import { setUpDesk } from '../desk.ts';
import { scriptOf } from '../script.ts';
import { siteOf } from '../site.ts';

export type BookkeepingClerkOptions = {
  /** The folder the clerk works in: made from `data/desk` where it does not exist. */
  readonly desk: string;
  /** Default: the scripted model of `script.yaml`, which needs no key and no network. */
  readonly model?: Model;
};

const DATA = join(import.meta.dirname, 'data');
const LEDGER = 'ledger-2026-10.csv';

const INSTRUCTIONS = `You are the bookkeeping clerk of a small planning office. You check the ledger and correct it.

- The rules are in rules/, the invoices in invoices/. The rates themselves are on the page that rules/vat.md names: read it, do not rely on memory.
- A correction sets cells of existing rows. You never add, remove or reorder rows, and you never write the ledger anew.
- Name a row by its invoice. Compare the invoice, the rule and the page before you propose a correction; if they disagree, correct nothing and say how they differ.
- Amounts are text with a point and two decimals, as they stand in the file. Round half up.
- Every correction is decided by a person. If one is turned down, leave it.
- At the end say which rows changed, from what to what, and what the sums are.`;

const POLICY: Policy = {
  rules: [
    {
      id: 'corrections-are-seen-first',
      tools: ['csv.update'],
      when: [{ at: '/path', equals: LEDGER }],
      do: 'ask',
      reason: 'The ledger is a record: every change of it is decided by a person.',
    },
    {
      id: 'ledger-is-not-written-anew',
      tools: ['csv.write'],
      do: 'deny',
      reason: 'cells are corrected with csv.update',
    },
    {
      id: 'only-the-ledger-is-corrected',
      tools: ['csv.update'],
      do: 'deny',
      reason: `what the ledger is held against is not changed here; name it ${LEDGER}`,
    },
  ],
};

export const bookkeepingClerk = ({ desk, model }: BookkeepingClerkOptions): Agent => {
  setUpDesk({ desk, data: join(DATA, 'desk') });
  return defineAgent({
    name: 'bookkeeping-clerk',
    description: 'Checks a ledger against rules, invoices and published rates, and corrects cells.',
    instructions: INSTRUCTIONS,
    model: model ?? scriptedModel(scriptOf(import.meta.dirname)),
    tools: [
      ...csvTools({ root: desk }),
      ...fileTools({ root: desk, readOnly: true }),
      ...httpTools({ ...siteOf(join(DATA, 'site')), private: false }),
    ],
    policy: POLICY,
    limits: { stepsPerTurn: 20, turnCostUsd: 1 },
  });
};
