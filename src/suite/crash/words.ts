/** What a crash matrix found, in sentences, for the terminal and the page. */
import { countOf } from '../../view/format.ts';
import { verdictCounts, type KillResult } from './matrix.ts';

/** `52 ended in doubt, as effect kind once says (crm.note).` Empty where none did. */
export const doubtWords = (results: readonly KillResult[]): string => {
  const doubtful = results.filter(({ verdict }) => verdict === 'in-doubt');
  if (doubtful.length === 0) return '';
  const calls = doubtful.flatMap(({ inDoubt }) => inDoubt);
  const kinds = [...new Set(calls.map(({ effect }) => effect))].sort();
  const tools = [...new Set(calls.map(({ tool }) => tool))].sort();
  const say = kinds.length === 1 ? 'kind' : 'kinds';
  const says = kinds.length === 1 ? 'says' : 'say';
  return `${doubtful.length} ended in doubt, as effect ${say} ${kinds.join(' and ')} ${says} (${tools.join(', ')}).`;
};

/** `3 of 54 kills ended wrong: 2 ran an effect twice, 1 lost something.` */
export const wrongWords = (results: readonly KillResult[]): string => {
  const wrong = results.filter((result) => result.wrong);
  const counts = verdictCounts(wrong);
  const parts = [
    ...(counts.twice > 0 ? [`${counts.twice} ran an effect twice`] : []),
    ...(counts.lost > 0 ? [`${counts.lost} lost something`] : []),
    ...(counts.unproved > 0 ? [`${counts.unproved} left a log that does not prove itself`] : []),
    ...(counts['other-end'] > 0 ? [`${counts['other-end']} came to another end`] : []),
  ];
  return `${wrong.length} of ${countOf(results.length, 'kill')} ended wrong: ${parts.join(', ')}.`;
};

export const unjudgedWords = (kills: number): string =>
  `${countOf(kills, 'kill')} could not be judged: the scenario does not take the same way each time.`;
