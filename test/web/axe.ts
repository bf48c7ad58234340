/** Asks axe-core about the page as it stands (WCAG 2.2 AA and its own best practices): what it finds serious, in words. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Found = {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
};

export const seriousIn = async (page: Page): Promise<readonly string[]> => {
  // By the debugger: the policy of the pages lets no script in any other way.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<Found>('axe.run({ resultTypes: ["violations"] })');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes
        .slice(0, 3)
        .map(
          ({ html, failureSummary = '' }) => `${id}: ${help}\n  ${html.slice(0, 200)}\n  ${failureSummary}`,
        ),
    );
};
