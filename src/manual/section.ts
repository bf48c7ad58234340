/** The part of a page from a heading to the next one of its depth. */
import type { Token } from 'marked';
import type { Page } from './manual.ts';
import { anchors, plainText } from './markdown.ts';

export const sectionAt = (page: Page | undefined, anchor: string): readonly Token[] | undefined => {
  const anchorOf = anchors();
  const { tokens = [] } = page ?? {};
  const heads = tokens.flatMap((token, at) =>
    token.type === 'heading'
      ? [{ at, depth: Number(token['depth']), anchor: anchorOf(plainText(token.tokens ?? [])) }]
      : [],
  );
  const begin = heads.find((head) => head.anchor === anchor);
  if (!begin) return undefined;
  const end = heads.find(({ at, depth }) => at > begin.at && depth <= begin.depth);
  return tokens.slice(begin.at, end?.at);
};
