/** What the model is asked when history is to be summarised. Part of the record: each request that asks holds it. */
export const SUMMARY_REQUEST: string = [
  'Write a summary of everything above. It will stand in place of it in later requests, and nothing else of it will',
  'be seen again. Keep what is needed to go on: what was asked and what is still open, decisions and who made them,',
  'facts, names, numbers, paths and identifiers exactly as they are, what tools did and what failed. Leave out what',
  'no longer matters. Call no tool. Answer with the summary alone.',
].join(' ');
